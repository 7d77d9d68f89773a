// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
    taken,         ///< the daemon has the message now, or already had it
    refused,       ///< `code` and `text` give the reason
    waits,         ///< call send() again when the cause in `pause` is gone
    out_of_order,  ///< a number was skipped: the client is at fault
  } state = State::taken;
  Link::Pause pause = Link::Pause::none;
  wire::ClientCode code{};
  std::string text;
};

/// Carries out the requests of clients that have a session. Client protocols call this class.
class Requests {
 public:
  Requests(Context& context, Registry& registry, Backlog& backlog, group::Groups& groups)
      : context_(context), registry_(registry), backlog_(backlog), groups_(groups) {}

  /// `cost`: number of bytes that the request takes from the client's quota, in addition to a fixed
  /// number.
  Sent send(Session& it, const wire::SendRequest& request, std::size_t cost);
  /// join() and leave() return no answer if the node has no room. The request then had no effect,
  /// and the client protocol repeats the call later.
  std::optional<Answer> join(Session& it, const wire::JoinRequest& request, std::size_t cost);
  std::optional<Answer> leave(Session& it, std::string_view group);
  Answer ask(Session& it, std::string_view what);
  void goodbye(Session& it);
  /// Why the rules do not allow a membership with the limits `asked`; std::nullopt if they allow
  /// it.
  std::optional<std::string> why_not(const Session& it, std::string_view group,
                                     const wire::SlowLimits& asked) const;

  // Acknowledgements.
  /// Call when message `number` of this node was delivered.
  void on_delivered(std::uint64_t number);
  /// Call, instead of on_delivered(), when the message has its place in all its domains for good.
  void on_placed(std::uint64_t number);
  /// Acknowledges all messages of this node's clients that were delivered here.
  void settle();
  /// Sends a marker, a safe message of the daemon itself, if delivered messages need a marker to be
  /// acknowledged.
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
  std::string no_domain_text(std::span<const std::string_view> targets) const;
  void acknowledge(const Settlement::Entry& entry);
  void finish_goodbye(Session& it);

  Context& context_;
  Registry& registry_;
  Backlog& backlog_;
  group::Groups& groups_;
  Settlement settlement_;
  Instant next_ask_{};  ///< see may_ask(); for all clients except administrators
};

}  // namespace peal::session
