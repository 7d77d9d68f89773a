// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::io {

/// SIGINT and SIGTERM as something to read instead of an interruption: a descriptor that becomes
/// readable when one has come. Make it before any thread starts, but those that take no signals, as
/// a client's. Children that are started while it exists must unblock_stop_signals() before they
/// run another program. What has come and was not taken is gone with it.
class StopSignals {
 public:
  /// `reload`, if it is not 0, is one more signal: SIGHUP. Then no children may be started.
  explicit StopSignals(int reload = 0);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }
  /// Takes one signal; 0 if none has come.
  int take() const;

 private:
  int reload_;
  int fd_;
};

/// Takes what has come: true if one of them was to stop.
bool told_to_stop(const StopSignals& signals);

void unblock_stop_signals();

}  // namespace peal::io
