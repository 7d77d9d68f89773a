// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "group/groups.h"
#include "session/backlog.h"
#include "session/settlement.h"

namespace peal::session {

/// The result of Requests::send().
struct Sent {
  enum class State : std::uint8_t {
    taken,         ///< also if the message had been taken before
    refused,       ///< for the reason in `code` and `text`
    waits,         ///< until the cause in `pause` is gone; then call send() again
    out_of_order,  ///< a number was skipped: the client is at fault
  } state = State::taken;
  Link::Pause pause = Link::Pause::none;
  wire::ClientCode code{};
  std::string text;
};

/// Carries out the requests of clients that have a session. Client protocols call it.
class Requests {
 public:
  Requests(Context& context, Registry& registry, Backlog& backlog, group::Groups& groups)
      : context_(context), registry_(registry), backlog_(backlog), groups_(groups) {}

  /// `cost`: the bytes that the request takes of the client's quota, besides a fixed part.
  Sent send(Session& it, const wire::SendRequest& request, std::size_t cost);
  /// join() and leave() return no answer if the node has no room. The request then had no effect,
  /// and the client protocol repeats the call later.
  std::optional<Answer> join(Session& it, const wire::JoinRequest& request, std::size_t cost);
  std::optional<Answer> leave(Session& it, std::string_view group);
  Answer ask(Session& it, std::string_view what);
  void goodbye(Session& it);
  /// Why the rules do not allow a membership with the limits `asked`; nothing if they allow it.
  std::optional<std::string> why_not(const Session& it, std::string_view group,
                                     const wire::SlowLimits& asked) const;

  // Acknowledgements.
  /// Call when message `number` of this node was delivered.
  void on_delivered(std::uint64_t number);
  /// Acknowledges every message that was delivered here.
  void settle();
  /// Sends a marker, a safe message of the daemon's own, if messages need one to be acknowledged.
  void mark();
  bool all_settled() const { return settlement_.empty(); }
  void check_invariants() const;

 private:
  std::optional<std::pair<wire::ClientCode, std::string>> why_not(Session& it,
                                                                  const wire::SendRequest& request,
                                                                  std::size_t cost);
  Sent refuse(Session& it, std::uint64_t number, wire::ClientCode code, std::string text);
  bool has_quota(Session& it, std::size_t bytes);
  bool may_ask(Instant& next, Duration every, int at_once) const;
  std::optional<Answer> answer_of(group::Refusal why, std::string_view group) const;
  void acknowledge(const Settlement::Entry& entry);
  void finish_goodbye(Session& it);

  Context& context_;
  Registry& registry_;
  Backlog& backlog_;
  group::Groups& groups_;
  Settlement settlement_;
  Instant next_ask_{};  ///< see may_ask(): for all clients that are no administrators
};

}  // namespace peal::session
