// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring_queue.h"
#include "order/ramcast/acks.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/takeover.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// The work of a leader: the base of its round, timestamps, and views.
class Lead {
 public:
  Lead(const Parts& parts, Messages& messages, DomainState& state, Outlet& outlet, Acks& acks,
       LeaderLog& log, const Watch& watch)
      : parts_(parts),
        messages_(messages),
        state_(state),
        outlet_(outlet),
        acks_(acks),
        log_(log),
        watch_(watch) {}

  /// Begins the round that this server, as a candidate, has decided on. All units that any base
  /// message needs are here.
  void begin(const Decision& decision, std::uint32_t seed);
  /// Another server leads, or this one asks the others again.
  void end();
  /// A member of the round has exposed a new region: it gets a base.
  void base_for(NodeIndex member, const wire::MemberState& state);
  /// Proposes timestamps, and finds keys of entries that enough members hold. True if it did.
  bool advance();
  /// Proposes a view of these members; bit i: the node at place i.
  void propose_view(const wire::DomainView& view);
  /// A view may be proposed: this server is active, and no other view is under way.
  bool can_propose_view() const;
  /// Another server says that the message has this key, and does not know in which round of this
  /// domain it was found. It was not in a later one if a majority takes one more entry of this
  /// round.
  void on_hearsay(Record& record, Seq key);
  /// An entry is under way that commits a message of the row.
  bool refers_to(const Row& row) const;

 private:
  struct Inlined {
    std::uint64_t entry = 0;
    Record* record = nullptr;  ///< null: a view, or the end of the base
    wire::MessageId id{};      ///< of a message with hearsay
    Seq key{};                 ///< the same
  };

  struct BaseItem;
  void begin_order(const Decision& decision);
  Seq skipped_by_bases() const;
  std::vector<BaseItem> base_of(NodeIndex member, const wire::MemberState& state);
  /// Whether the member at this place can keep what senders overwrite, should it take one more
  /// message.
  bool can_keep(Place place) const {
    return !state_.is_member(place) || state_.is_recent(watch_.released_by(place));
  }
  /// Bit i: the server at place i takes at once what is in its memory, see LeaderLog::holders().
  unsigned taking_at_once() const;
  bool propose();
  bool propose(Record& record);
  bool find_keys();
  bool is_held(const Inlined& each, unsigned at_once) const;
  static bool is_unit(const Inlined& each) {
    return each.record != nullptr && each.key == 0 && each.record->entry == each.entry;
  }
  void append_commit(std::uint64_t entry);
  void activate();

  const Parts& parts_;
  Messages& messages_;
  DomainState& state_;
  Outlet& outlet_;
  Acks& acks_;
  LeaderLog& log_;
  const Watch& watch_;
  RingQueue<Inlined> inlined_;  ///< entries that commit once they are held, in their order
  /// By place: the last entry that the member might not have been able to take.
  std::array<std::uint64_t, wire::kDomainNodesMax> doubtful_{};
};

/// Sets what a round's base says of a message, at the leader or at a member.
void adopt_stamp(Record& record, const wire::Round& round, Seq stamp);

}  // namespace peal::order::ramcast
