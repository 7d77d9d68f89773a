// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/links.h"
#include "order/ramcast/log_reader.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"

namespace peal::order::ramcast {

/// A message of a base, as most members know it.
struct BaseMessage {
  wire::MessageId id{};
  wire::MessageHead head{};
  Seq stamp{};  ///< in the highest round that any answering member is synchronized with, or 0
  Seq key{};
  std::uint16_t bodies = 0;  ///< bit i: the member at place i has the unit
};

/// What a candidate found out.
struct Decision {
  std::uint64_t clock = 0;
  std::vector<BaseMessage> messages;  ///< by stamp; those without one first
  wire::DomainView view;              ///< the latest one that any member delivered
  wire::DomainView proposed;          ///< a later one that may have been committed, or number 0
  std::uint16_t answered = 0;         ///< bit i: the member at place i takes part
  bool delivered_by_member = false;   ///< a member of `view` that takes part has delivered it
};

/// The change of the leader, at a candidate and at the members that it asks. A member gives its
/// region O to the candidate, and what it knows; from then on no earlier leader writes there.
class Takeover {
 public:
  Takeover(const Parts& parts, Links& links, Messages& messages, DomainState& state, Outlet& outlet,
           LogReader& reader, std::uint64_t seed);

  // The candidate.

  /// Begins a round above all that were heard of. With `bootstrap`, all nodes of the domain must
  /// answer, in the incarnations of `view.roster`; otherwise a majority.
  void start(Instant now, const wire::DomainView& view, bool bootstrap, LogTaker& taker,
             Effects& out);
  /// The state of a member came. True if it is complete.
  bool on_state(const MemberId& from, NodeIndex node, const wire::MemberState& state);
  void on_nack(const wire::Nack& nack);
  /// Asks members again whose answers are missing.
  void on_timer(Instant now, Effects& out);
  std::optional<Instant> deadline() const;
  /// Enough members have answered: what they know together.
  bool can_decide() const;
  Decision decide() const;
  bool bootstrap() const { return bootstrap_; }
  std::uint32_t seed() const { return seed_; }
  /// The view that the members were asked with.
  const wire::DomainView& asked() const { return view_; }
  /// Stops asking.
  void end() { asking_ = 0; }
  /// The highest count of a round that was heard of.
  void note_round(const wire::Round& round);

  // A leader asks a member of its round for a new region.

  void ask_again(Instant now, NodeIndex node, Effects& out);
  /// The member has restarted: its former incarnation does not answer.
  void forget(Place place) { asking_ = static_cast<std::uint16_t>(asking_ & ~(1U << place)); }
  bool is_asked(Place place) const { return ((asking_ >> place) & 1U) != 0; }
  /// The last complete answer of a member.
  std::uint64_t grant_of(Place place) const { return answers_[place].grant; }
  const wire::MemberState& last_state(Place place) const { return answers_[place].first; }

  // The member.

  enum class Result : std::uint8_t { refused, repeated, promised, granted };
  /// `granted`: the same round, with a new region.
  Result on_takeover(const MemberId& from, NodeIndex node, const wire::Takeover& takeover,
                     LogTaker& taker, Effects& out);

 private:
  struct Answer {
    std::uint64_t grant = 0;  ///< that was asked for
    bool complete = false;
    std::vector<bool> parts;
    wire::MemberState first;  ///< the state of the last part, without its records
    std::vector<wire::StateRecord> records;
  };

  bool is_plausible(const wire::MemberState& state) const;
  bool accepts(const MemberId& from, NodeIndex node, const wire::Takeover& takeover) const;
  bool replaces_beginning(const MemberId& from, NodeIndex node,
                          const wire::Takeover& takeover) const;
  void ask(NodeIndex node, Effects& out);
  void close_old_log(LogTaker& taker);
  void answer(NodeIndex node, Effects& out) const;
  void answer_self();
  wire::MemberState own_state(const wire::Round& round, std::uint64_t grant) const;
  bool counts(Place place, const MemberId& from) const;

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  DomainState& state_;
  Outlet& outlet_;
  LogReader& reader_;
  Random random_;
  wire::DomainView view_;  ///< that the candidate asks with
  bool bootstrap_ = false;
  std::uint32_t seed_ = 0;
  wire::Round pledged_{};    ///< the highest round of an order that had begun, among those promised
  std::uint64_t count_ = 0;  ///< the highest count of a round that was heard of
  std::uint64_t grants_ = 0;  ///< grants that were asked for; never repeated
  std::uint16_t asking_ = 0;  ///< bit i: the member at place i was asked, and has not answered
  Instant next_{};
  std::vector<Answer> answers_;  ///< by place
  /// What this member has answered to the last TAKEOVER. Repeated answers are the same: parts of
  /// two different states would not be a state.
  wire::MemberState told_;
};

}  // namespace peal::order::ramcast
