// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/ramcast/acks.h"
#include "order/ramcast/backlogs.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/lead.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/links.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"
#include "order/ramcast/sender.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// Says what delays this node's next delivery or submission. Not on the hot path: it allocates.
class Explanation {
 public:
  Explanation(const Parts& parts, const Links& links, const Messages& messages,
              const DomainState& state, const Outlet& outlet, const LeaderLog& log,
              const Watch& watch, const Sender& sender, const Backlogs& backlogs)
      : parts_(parts),
        links_(links),
        messages_(messages),
        state_(state),
        outlet_(outlet),
        log_(log),
        watch_(watch),
        sender_(sender),
        backlogs_(backlogs) {}

  /// `now`: time of the last turn.
  WaitReason why(Instant now) const;

 private:
  WaitReason of_server(Instant now) const;
  WaitReason of_sender() const;
  WaitReason of_proposals(std::vector<MemberId> leader) const;
  WaitReason of_message(const Record& record) const;
  WaitReason of_place(wire::DomainBits domains) const;
  std::vector<MemberId> closed(unsigned domain) const;
  WaitReason in(unsigned domain, WaitReason reason) const;
  template <class Property>
  std::vector<MemberId> servers_that(Property has) const;
  std::vector<MemberId> unheard(Instant now) const;
  std::vector<MemberId> knowing_order() const;
  std::vector<MemberId> leading(Instant now) const;
  std::vector<MemberId> behind() const;
  /// The incarnation that is known of the node.
  MemberId member(NodeIndex node) const;

  const Parts& parts_;
  const Links& links_;
  const Messages& messages_;
  const DomainState& state_;
  const Outlet& outlet_;
  const LeaderLog& log_;
  const Watch& watch_;
  const Sender& sender_;
  const Backlogs& backlogs_;
};

}  // namespace peal::order::ramcast
