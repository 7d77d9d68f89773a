// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::io {

/// Makes SIGINT and SIGTERM input instead of interruptions: fd() becomes readable when one of these
/// signals has arrived. Create this object before any threads, except threads that block signals,
/// such as a client's. Children that are started while this object exists must call
/// unblock_stop_signals() before they run another program. The destructor discards signals that
/// were not taken.
class StopSignals {
 public:
  /// `reload` is 0, or SIGHUP to read this signal too. With SIGHUP, start no children, because
  /// unblock_stop_signals() does not unblock it.
  explicit StopSignals(int reload = 0);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }
  /// Takes one signal; 0 if none has arrived.
  int take() const;

 private:
  int reload_;
  int fd_;
};

/// Takes the signals that have arrived, up to the first SIGINT or SIGTERM. True if such a signal
/// was found.
bool told_to_stop(const StopSignals& signals);

void unblock_stop_signals();

}  // namespace peal::io
