// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring_queue.h"
#include "order/ramcast/acks.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/takeover.h"

namespace peal::order::ramcast {

/// The work of a leader: the base of its round, timestamps, and views.
class Lead {
 public:
  Lead(const Parts& parts, Links& links, Messages& messages, DomainState& state, Outlet& outlet,
       Acks& acks, LeaderLog& log)
      : parts_(parts),
        links_(links),
        messages_(messages),
        state_(state),
        outlet_(outlet),
        acks_(acks),
        log_(log) {}

  /// Begins the round that this server, as a candidate, has decided on. All units that any base
  /// message needs are here.
  void begin(const Decision& decision, const Takeover& takeover);
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
  /// Whether new streams may begin: no view is under way, except one of the first base.
  /// No entry is under way that commits a message.
  bool idle() const { return inlined_.empty(); }
  bool can_base() const { return !outlet_.view_under_way() || view_entry_ < kFirstEntry; }

 private:
  struct Inlined {
    std::uint64_t entry = 0;
    Record* record = nullptr;  ///< null: a view, or the end of the base
  };

  struct BaseItem;
  void begin_order(const Decision& decision);
  std::vector<BaseItem> base_of(NodeIndex member, const wire::MemberState& state);
  bool propose();
  bool propose(Record& record);
  bool find_keys();
  void append_commit(std::uint64_t entry);
  void activate();

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  DomainState& state_;
  Outlet& outlet_;
  Acks& acks_;
  LeaderLog& log_;
  RingQueue<Inlined> inlined_;    ///< entries that commit once they are held, in their order
  std::uint64_t view_entry_ = 0;  ///< of the view under way
};

/// Sets what a round's base says of a message, at the leader or at a member.
void adopt_stamp(Record& record, const wire::Round& round, Seq stamp);

}  // namespace peal::order::ramcast
