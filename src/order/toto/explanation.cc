// SPDX-License-Identifier: Apache-2.0
#include "order/toto/explanation.h"

#include "order/toto/vocabulary.h"

namespace peal::order::toto {

WaitReason explain(const Parts& parts, const Outlet& outlet, const Sender& sender,
                   const Watch& watch) {
  const MemberSet& members = parts.membership.members();
  const auto waits = [&](const WaitKind& kind, const MemberBits& whom, Seq seq) {
    WaitReason reason{&kind, {}, seq};
    whom.for_each([&](Index member) { reason.all.push_back(members[member]); });
    if (!reason.all.empty()) reason.who = reason.all.front();
    return reason;
  };
  if (outlet.held()) return {&wait::slow_application, parts.membership.self(), 0};
  if (parts.graph.barred().any()) return waits(wait::refused, parts.graph.barred(), 0);
  for (Index origin = 0; origin < members.size(); ++origin) {
    if (parts.graph.lacks(origin)) return {&wait::node, members[origin], 0};
  }
  const auto full = watch.full_member();
  const MemberBits evidence = outlet.without_evidence();
  const MemberBits votes = outlet.order().awaited();
  if (full && (evidence.test(*full) || votes.test(*full) || sender.is_blocked())) {
    return {&wait::slow_application, members[*full], 0};
  }
  if (evidence.any()) return waits(wait::evidence, evidence, outlet.places() + 1);
  if (sender.lacks_buffers()) return {&wait::buffers, parts.membership.self(), 0};
  if (votes.any()) return waits(wait::votes, votes, outlet.places() + 1);
  if (parts.host.backlog_units() == 0) return {};
  if (sender.doubts_view()) return {&wait::sign_of_life, {}, 0};
  if (!sender.is_blocked()) return {};
  WaitReason reason{&wait::window, {}, 0};
  reason.all = watch.behind();
  if (!reason.all.empty()) reason.who = reason.all.front();
  return reason;
}

}  // namespace peal::order::toto
