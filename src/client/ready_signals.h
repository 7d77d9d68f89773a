// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/signal.h"

namespace peal::client {

/// The descriptors that an application polls: one for events to read, and one for space to send.
/// While the application serves the connection (reads and writes it), the descriptor for events
/// also watches the connection. Thread: one at a time.
class ReadySignals {
 public:
  /// Returns false if the system has too few descriptors.
  bool start() {
    return events_.fd() >= 0 && room_.fd() >= 0 && watcher_.fd() >= 0 &&
           watcher_.watch(events_.fd());
  }

  // Events to read.
  int events_fd() const { return watcher_.fd(); }
  /// Call when the application begins to use events_fd(). Before this call, set_events() does
  /// nothing.
  void use_events() { used_ = true; }
  /// Call when events wait that no thread is about to take.
  void set_events() {
    if (used_ && !std::exchange(events_set_, true)) events_.set();
  }
  void clear_events() {
    if (std::exchange(events_set_, false)) events_.clear();
  }
  bool wants_watch() const { return used_ && !watches(); }
  /// Returns false if the system cannot watch the connection.
  bool watch(int connection) {
    if (!watcher_.watch(connection)) return false;
    watched_ = connection;
    return true;
  }
  void unwatch() {
    if (watches()) watcher_.unwatch(std::exchange(watched_, -1));
  }
  bool watches() const { return watched_ >= 0; }

  // Space to send.
  int room_fd() const { return room_.fd(); }
  /// Call when the application waits until there is space for a message of `bytes` bytes.
  void want_room(std::size_t bytes) {
    room_bytes_ = room_wanted_ ? std::min(room_bytes_, bytes) : bytes;
    if (!std::exchange(room_wanted_, true)) room_.clear();
  }
  bool room_wanted() const { return room_wanted_; }
  /// Size of the smallest message that waits for space.
  std::size_t room_bytes() const { return room_bytes_; }
  void set_room() {
    room_wanted_ = false;
    room_.set();
  }

 private:
  Signal events_;  ///< readable while events wait that were already read from the connection
  Signal room_;
  /// Watches events_ and, while the application serves the connection, also the connection.
  Watcher watcher_;
  bool used_ = false;
  bool events_set_ = false;
  int watched_ = -1;  ///< descriptor of the connection that watcher_ watches; -1: none
  bool room_wanted_ = false;
  std::size_t room_bytes_ = 0;
};

}  // namespace peal::client
