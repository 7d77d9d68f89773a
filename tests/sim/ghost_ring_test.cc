// SPDX-License-Identifier: Apache-2.0
#include "order/ring/inspection/ghost_ring.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ghost_reports.h"

// Illegal histories of rings, written by hand. Each history violates one rule, and GhostRing must
// detect the violation.

namespace peal::sim {
namespace {

using order::ring::GhostRing;

const MemberId kFirst{NodeId{1}, 1}, kSecond{NodeId{2}, 1}, kThird{NodeId{3}, 1};

class GhostRingTest : public GhostReports {
 protected:
  static wire::Commit commit_of(std::uint64_t number, std::vector<MemberId> members) {
    wire::Commit commit;
    commit.view = {number, members.front()};
    commit.members = std::move(members);
    commit.hops = static_cast<std::uint32_t>(commit.members.size());
    return commit;
  }
  static ViewId first() { return {1, kFirst}; }
  /// All three members install their first view.
  void begin() {
    const wire::Commit commit = commit_of(1, {kFirst, kSecond, kThird});
    for (const MemberId& who : commit.members) ring.said_commit(who, commit);
    for (const MemberId& who : commit.members) install(who, commit.view, commit.members);
  }
  void install(MemberId who, ViewId id, const std::vector<MemberId>& members) {
    order::View view;
    view.id = id;
    view.members = members;
    ring.installed(who, view);
  }
  void transition(MemberId who, ViewId next, ViewId old, const std::vector<MemberId>& members) {
    order::View view;
    view.transitional = true;
    view.id = next;
    view.old = old;
    view.members = members;
    ring.installed(who, view);
  }
  void deliver(MemberId who, Seq seq, Service service = Service::agreed, bool late = false) {
    order::Delivery delivery;
    delivery.view = first();
    delivery.seq = seq;
    delivery.service = service;
    delivery.transitional = late;
    ring.delivered(who, delivery);
  }
  /// The commit token of two members that continue. Together they have all units up to `high`,
  /// except `hole`.
  wire::Commit settled(Seq base, Seq high, Seq hole = 0) {
    wire::Commit commit = commit_of(2, {kFirst, kSecond});
    order::ring::OldViewRecord old;
    old.base = base;
    old.high = high;
    old.have.assign((high - base + 63) / 64, 0);
    for (Seq seq = base + 1; seq <= high; ++seq) {
      if (seq == hole) continue;
      old.have[(seq - base - 1) / 64] |= std::uint64_t{1} << ((seq - base - 1) % 64);
    }
    commit.old_views = {{first(), {kFirst, kSecond}, encode(old)}};
    return commit;
  }
  GhostRing ring{0, report};
};

TEST_F(GhostRingTest, WhatIsLegalIsNotFound) {
  begin();
  wire::Token token;
  token.view = first();
  token.hop = 3;
  ring.said_token(kFirst, token);
  ring.said_token(kFirst, token);  // the token is sent again
  for (const MemberId& who : {kFirst, kSecond, kThird}) ring.holds(who, first(), 1);
  deliver(kFirst, 1, Service::safe);
  for (const MemberId& who : {kFirst, kSecond}) ring.holds(who, first(), 2);
  wire::Join join;
  join.number = 1;
  join.committed = first();
  join.view_number_max = 1;
  ring.said_join(kFirst, join);
  const wire::Commit commit = settled(1, 2);
  for (const MemberId& who : {kFirst, kSecond}) ring.said_commit(who, commit);
  for (const MemberId& who : {kFirst, kSecond}) {
    transition(who, commit.view, first(), {kFirst, kSecond});
    deliver(who, 2, Service::safe, true);
    install(who, commit.view, {kFirst, kSecond});
  }
  EXPECT_EQ(found(), "");
}

TEST_F(GhostRingTest, NumbersThatGoBack) {
  begin();
  wire::Join join;
  join.number = 4;
  join.committed = first();
  join.view_number_max = 9;
  ring.said_join(kFirst, join);
  EXPECT_EQ(found(), "");
  ring.said_join(kFirst, join);
  EXPECT_TRUE(finds("n1.1 says a JOIN with a number that it has used"));
  join.number = 5;
  join.committed = {};
  ring.said_join(kFirst, join);
  EXPECT_TRUE(finds("n1.1 says that it committed to view 0"));
  join.number = 6;
  join.committed = first();
  join.view_number_max = 8;
  ring.said_join(kFirst, join);
  EXPECT_TRUE(finds("n1.1 knows of lower view numbers than before"));
  ring.said_commit(kFirst, commit_of(1, {kSecond, kThird}));
  EXPECT_TRUE(finds("n1.1 commits to view 1 of n2.1, and has committed to view 1 of n1.1"));
}

TEST_F(GhostRingTest, TokensThatGoBack) {
  begin();
  wire::Token token;
  token.view = first();
  token.hop = 3;
  ring.said_token(kFirst, token);
  token.hop = 2;
  ring.said_token(kFirst, token);
  EXPECT_TRUE(finds("n1.1 passes a token of view 1 of n1.1 on that has been there"));
  ring.said_commit(kFirst, commit_of(2, {kFirst, kSecond}));
  token.hop = 4;
  ring.said_token(kFirst, token);
  EXPECT_TRUE(finds("n1.1 passes a token of view 1 of n1.1 on, and has committed to view 2"));
}

TEST_F(GhostRingTest, TwoAgreementsOnOneView) {
  begin();
  const wire::Commit commit = settled(1, 2);
  ring.said_commit(kFirst, commit);
  wire::Commit other = commit;
  order::ring::OldViewRecord record = order::ring::decode_record(other.old_views.front().record);
  record.base = 2;
  other.old_views.front().record = encode(record);
  ring.said_commit(kSecond, other);
  EXPECT_TRUE(finds("n2.1 passes on another commit token of view 2 of n1.1 than was settled"));
  other = commit_of(2, {kFirst, kThird});
  ring.said_commit(kThird, other);
  EXPECT_TRUE(finds("two commit tokens of view 2 of n1.1 name other members"));
  install(kFirst, commit.view, {kFirst, kSecond, kThird});
  EXPECT_TRUE(finds("n1.1 installs view 2 of n1.1 with other members"));
  transition(kFirst, commit.view, first(), {kFirst});
  EXPECT_TRUE(finds("n1.1 takes others for survivors of view 1 of n1.1"));
}

TEST_F(GhostRingTest, SafeAndSomebodyNeverHadIt) {
  begin();
  for (const MemberId& who : {kFirst, kSecond}) ring.holds(who, first(), 1);
  deliver(kFirst, 1, Service::safe);
  EXPECT_TRUE(finds("n1.1 delivers position 1 of view 1 of n1.1 as safe, and n3.1 never had it"));
  deliver(kFirst, 1, Service::agreed);
  EXPECT_EQ(found(), "");
}

TEST_F(GhostRingTest, SafeInATransitionalViewAndASurvivorNeverHadIt) {
  begin();
  const wire::Commit commit = settled(1, 2);
  for (const MemberId& who : {kFirst, kSecond}) ring.said_commit(who, commit);
  transition(kFirst, commit.view, first(), {kFirst, kSecond});
  deliver(kFirst, 2, Service::safe, true);
  EXPECT_TRUE(finds("as safe, and the survivor n2.1 never had it"));
}

TEST_F(GhostRingTest, SurvivorsDoNotKnowWhatOneHasDelivered) {
  begin();
  deliver(kSecond, 1);
  deliver(kSecond, 2);
  ring.said_commit(kFirst, settled(1, 3, 2));
  EXPECT_TRUE(finds("n2.1 has delivered position 2 of view 1 of n1.1, and the survivors do not"));
}

TEST_F(GhostRingTest, OneDeliversWhatOtherSurvivorsDoNotKnow) {
  begin();
  const wire::Commit commit = settled(1, 3, 2);
  for (const MemberId& who : {kFirst, kSecond}) ring.said_commit(who, commit);
  deliver(kFirst, 2);
  transition(kFirst, commit.view, first(), {kFirst, kSecond});
  EXPECT_TRUE(finds("n1.1 has delivered position 2 of view 1 of n1.1, which other survivors"));
  deliver(kFirst, 2, Service::agreed, true);
  EXPECT_TRUE(finds("n1.1 delivers position 2 of view 1 of n1.1, which other survivors do not"));
}

TEST_F(GhostRingTest, MemoryIsBounded) {
  begin();
  ring.holds(kFirst, {99, kFirst}, 1);  // an unknown view, from a damaged packet
  ring.holds(kFirst, first(), ~Seq{0});
  for (std::uint64_t n = 2; n < 2 + 2 * GhostRing::kViewsMax; ++n) {
    ring.said_commit(kFirst, commit_of(n, {kFirst, kSecond}));
  }
  deliver(kFirst, 1, Service::safe);  // the view of the message is forgotten
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace peal::sim
