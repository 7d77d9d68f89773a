// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "group/groups.h"
#include "session/backlog.h"
#include "session/shared_regions.h"

namespace peal::session {

/// Why a client gets no session.
struct Denial {
  wire::ClientCode code{};
  std::string text;
};

/// Begins sessions, resumes them on another connection, and ends them. Client protocols call this
/// class.
class Lifecycle {
 public:
  Lifecycle(Context& context, Spool& spool, ChunkPool& chunks, Registry& registry,
            SharedRegions& regions, Backlog& backlog, group::Groups& groups)
      : context_(context),
        spool_(spool),
        chunks_(chunks),
        registry_(registry),
        regions_(regions),
        backlog_(backlog),
        groups_(groups) {}

  /// Begins or resumes a session on the connection, and calls Link::welcome(). If the client gets
  /// no session, returns only the reason.
  std::optional<Denial> enter(Link& link, const wire::Hello& hello);
  /// Call when the client has mapped the region. Returns the error as text, or an empty text if
  /// there is no error.
  std::string_view map_region(Session& it);
  /// Call when the session has lost its connection.
  void detach(Session& it);
  void end(Session& it, wire::ClientCode code, std::string_view text);

  // For the owner.
  /// Ends the session with this private name. False: there is no such session.
  bool evict(std::string_view private_name);
  /// Checks the deadlines of sessions without a connection, and the ages of waiting events.
  void check();
  /// Ends the sessions for which Registry::end_later() was called.
  void end_due();
  void stop();

 private:
  std::optional<Denial> begin(Link& link, const wire::Hello& hello, Person person);
  std::optional<Denial> resume(Link& link, const wire::Hello& hello, const Person& person);
  Result<std::uint32_t, group::Refusal> connect_name(const ClientRule& rule, std::string& name);
  /// `events_seen`: for a resumed session, number of the last event that the client has;
  /// std::nullopt for a new session.
  void attach(Session& it, Link& to, std::optional<std::uint64_t> events_seen, bool shares);
  void check(Session& it);

  Context& context_;
  Spool& spool_;
  ChunkPool& chunks_;
  Registry& registry_;
  SharedRegions& regions_;
  Backlog& backlog_;
  group::Groups& groups_;
  std::uint64_t next_name_ = 0;  ///< number in the last name made for a client without a name
};

}  // namespace peal::session
