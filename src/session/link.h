// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "session/host.h"
#include "session/options.h"
#include "session/wanted.h"
#include "wire/client.h"

namespace peal::session {

struct Session;

/// A client's connection, as its session sees it. A client protocol derives its connections from
/// this class. The derived class turns received bytes into calls of Lifecycle and Requests, and
/// writes to the client the session's notifications and the events in the session's EventQueue.
class Link {
 public:
  /// Why the daemon does not read from the connection.
  enum class Pause : std::uint8_t {
    none,
    node,       ///< the node's queue is full
    unsettled,  ///< too many messages or bytes of the session are not acknowledged
    input,      ///< the unfinished records of all connections take too many bytes
    output,     ///< the client does not read its replies
  };

  Link(ConnectionId its_id, Identity of, Wanted& all_wanted)
      : id(its_id), identity(std::move(of)), wanted_(all_wanted) {}
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Notifications from the session. None of them is called for every message.
  /// The connection has a session now. `repeat`: number of the first refusal that the client may
  /// have missed; 0: none.
  virtual void welcome(const wire::Welcome& welcome, std::uint64_t repeat) = 0;
  virtual void warn(const wire::Warning& warning) = 0;
  /// A membership ends although the client did not ask to leave.
  virtual void membership_ends(std::string_view why) = 0;
  /// The pause `unsettled` is over.
  virtual void resume() = 0;
  /// Writes the last record, with the reason, and closes the connection. Detaches the connection
  /// from its session, but does not end the session.
  virtual void close(wire::ClientCode code, std::string_view text) = 0;

  /// Call when the connection has something to write.
  void want_write() {
    if (wants_write) return;
    wants_write = true;
    wanted_.write.push_back(id);
  }

  const ConnectionId id;
  const Identity identity;
  Session* session = nullptr;
  Pause pause = Pause::none;
  RegionId region = 0;       ///< the region that the client may read; 0: none
  bool wants_write = false;  ///< listed in Wanted::write

 private:
  Wanted& wanted_;
};

}  // namespace peal::session
