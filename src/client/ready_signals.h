// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/signal.h"

namespace peal::client {

/// The descriptors that an application polls: one for events to read, and one for room to
/// send. While the application serves the connection, the descriptor for events also watches the
/// connection itself. Thread: one at a time.
class ReadySignals {
 public:
  /// Returns false if the system had too few descriptors.
  bool start() {
    return events_.fd() >= 0 && room_.fd() >= 0 && watcher_.fd() >= 0 &&
           watcher_.watch(events_.fd());
  }

  // Events.
  int events_fd() const { return watcher_.fd(); }
  /// Call when the application begins to use events_fd(). Nothing is signalled there before.
  void use_events() { used_ = true; }
  /// Call when there are events that no thread is about to take.
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

  // Room.
  int room_fd() const { return room_.fd(); }
  /// Call when the application waits until there is room for a message of this size.
  void want_room(std::size_t bytes) {
    room_bytes_ = room_wanted_ ? std::min(room_bytes_, bytes) : bytes;
    if (!std::exchange(room_wanted_, true)) room_.clear();
  }
  bool room_wanted() const { return room_wanted_; }
  /// Size of the smallest message that waits for room.
  std::size_t room_bytes() const { return room_bytes_; }
  void set_room() {
    room_wanted_ = false;
    room_.set();
  }

 private:
  Signal events_;  ///< readable while there are events that were read from the connection
  Signal room_;
  Watcher watcher_;  ///< watches events_ and, while the application serves, the connection
  bool used_ = false;
  bool events_set_ = false;
  int watched_ = -1;  ///< the connection that watcher_ watches; -1: none
  bool room_wanted_ = false;
  std::size_t room_bytes_ = 0;
};

}  // namespace peal::client
