// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::io {

/// SIGINT and SIGTERM as input instead of an interruption: a descriptor that becomes readable when
/// one has arrived. Create this object before any threads, except those that block signals, like a
/// client's. Children that are started while this object exists must call unblock_stop_signals()
/// before they run another program. The destructor discards signals that were not taken.
class StopSignals {
 public:
  /// `reload`, if not 0, is one more signal: SIGHUP. With it, no children may be started.
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

/// Takes the signals that have arrived, up to the first SIGINT or SIGTERM; true if there is one.
bool told_to_stop(const StopSignals& signals);

void unblock_stop_signals();

}  // namespace peal::io
