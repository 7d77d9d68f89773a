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
    taken,         ///< also if the client had sent it before
    refused,       ///< for the reason in `code` and `text`
    waits,         ///< until the cause in `pause` is gone; then the protocol calls send()
    out_of_order,  ///< its number does not follow the previous one: the client is at fault
  } state = State::taken;
  Link::Pause pause = Link::Pause::none;
  wire::ClientCode code{};
  std::string text;
};

/// The requests of clients that have a session. Client protocols call it. A request that gets no
/// answer has no effect.
class Requests {
 public:
  Requests(Context& context, Registry& registry, Backlog& backlog, group::Groups& groups)
      : context_(context), registry_(registry), backlog_(backlog), groups_(groups) {}

  /// `cost`: the bytes that the request takes of the client's quota, besides a fixed part.
  Sent send(Session& it, const wire::SendRequest& request, std::size_t cost);
  /// Each returns the answer; none: the node has no room, and the protocol asks again later.
  std::optional<Answer> join(Session& it, const wire::JoinRequest& request, std::size_t cost);
  std::optional<Answer> leave(Session& it, std::string_view group);
  Answer ask(Session& it, std::string_view what);
  void goodbye(Session& it);
  /// Why the rules do not allow a membership with such limits; nothing if they do.
  std::optional<std::string> why_not(const Session& it, std::string_view group,
                                     const wire::SlowLimits& asked) const;

  // Acknowledgements.
  /// Own message `number` was delivered.
  void on_delivered(std::uint64_t number);
  /// Acknowledges every message that was delivered here.
  void settle();
  /// Sends a marker if messages wait for one.
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
  Instant next_ask_{};  ///< when the next question of any client would be due
};

}  // namespace peal::session
