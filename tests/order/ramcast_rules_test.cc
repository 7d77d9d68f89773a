// SPDX-License-Identifier: Apache-2.0
// Rules that seldom matter. For each of them: a scenario that is right, and that breaks the order
// once the rule is missing.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/hooks.h"
#include "ramcast_stories.h"
#include "ramcast_unheard.h"
#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

using sim_hooks::Mutant;

// What a missing rule leads to.
constexpr const char* kHole = "delivered [0-9]+ of [0-9]+";
constexpr const char* kStuck = "stuck";      // the end, see end_of()
constexpr const char* kStopped = "stopped";  // in the middle of a scenario

/// Repair comes late, so that a scenario decides who knows what. Units do not travel in the log.
Shape shape_of(std::uint32_t servers, std::uint32_t outsiders) {
  Shape shape{.domains = {servers}, .outsiders = outsiders};
  shape.options.repair = milliseconds(15);
  shape.options.suspect = milliseconds(100);
  shape.options.inline_bytes = 0;
  return shape;
}

/// The same, and each outsider has sent a message to domain 1: its connections are open.
std::unique_ptr<World> connected(const Shape& shape) {
  auto world = settled(shape);
  for (std::uint32_t node = world->nodes() - shape.outsiders; node < world->nodes(); ++node) {
    world->submit(node, 1, 60);
  }
  world->run_until([&] { return world->is_quiet(); }, seconds(1));
  return world;
}

/// Nothing passes any more between the server and the others of the first domain.
void cut_off(World& world, std::uint32_t server) {
  for (const NodeIndex other : world.layout().servers(1)) {
    if (other == server) continue;
    world.cut(server, other);
    world.cut(other, server);
  }
}

/// A view of three servers leaves this one out. Server 0 leads.
bool leave_out(World& world, std::uint32_t server) {
  cut_off(world, server);
  return world.run_until([&] { return world.view(0).size() == 2; }, seconds(2));
}

bool wait_for_leader(World& world, std::uint32_t node) {
  return world.run_until([&] { return world.leader(1) == node; }, seconds(1));
}

/// What is wrong at the end; kStuck if the world does not come to rest.
std::string end_of(World& world) {
  world.heal_all();
  for (std::uint32_t node = 0; node < world.nodes(); ++node) world.resume(node);
  const bool quiet = world.run_until([&] { return world.is_quiet(); }, seconds(5));
  const std::string broken = world.broken();
  return broken.empty() && !quiet ? kStuck : broken;
}

/// Nodes 0 and 3 alone have the unit of a message whose stamp all have. A leader without these two
/// drops the message; it may deliver what was behind it, and crash before anybody has its base.
std::string a_base_that_nobody_has() {
  Shape shape = shape_of(5, 2);
  shape.options.repair = milliseconds(60);  // the leader is asked first
  const auto world = connected(shape);
  for (const std::uint32_t node : {1U, 2U, 4U}) world->cut(5, node);
  world->submit(5, 1, 60);
  world->run(microseconds(30));
  world->submit(6, 1, 60);
  world->run(microseconds(30));
  world->pause(0);
  world->pause(3);
  const auto asks = [&] { return world->engine(1).counts().takeovers > 0; };
  if (!world->run_until(asks, seconds(1))) return "no other candidate";
  for (const NodeIndex node : {NodeIndex{2}, NodeIndex{4}}) {
    world->fabric().cut(world->layout().role(1).node, world->layout().role(node).node);
  }
  const auto leads = [&] { return world->engine(1).counts().rounds > 0; };
  if (!world->run_until(leads, milliseconds(10))) return "no other leader";
  world->crash(1);
  return end_of(*world);
}

TEST(RamcastRules, NobodyDeliversBeforeAMajorityHasTheBase) {
  expect_needed(Mutant::rc_active_at_once, a_base_that_nobody_has, kHole);
}

/// Node 0 delivers a message to both domains by the acknowledgement of node 2, whose key is that of
/// the other domain. Node 1, which leads next, has not heard of that key.
std::string a_leader_with_a_small_clock() {
  Shape shape = shape_of(3, 2);
  shape.domains.push_back(1);
  shape.clocks = {0, 1'000'000};
  const auto world = connected(shape);
  const std::uint64_t before = world->delivered(0);
  for (const std::uint32_t node : {0U, 2U, 3U}) world->cut(node, 1);
  world->cut(0, 3);  // the other domain does not acknowledge yet
  world->submit(4, 0, 60);
  const auto acknowledged = [&] { return world->engine(2).counts().acknowledged > before; };
  if (!world->run_until(acknowledged, milliseconds(5))) return "not acknowledged";
  world->heal_all();
  for (const std::uint32_t node : {0U, 2U, 3U}) world->cut(node, 1);
  world->cut(0, 2);
  world->cut(3, 2);
  if (!world->run_until([&] { return world->delivered(0) > before; }, milliseconds(80))) {
    return "not delivered";
  }
  world->crash(0);
  world->heal_all();
  world->cut(3, 1);
  world->cut(3, 2);
  world->submit(5, 1, 60);
  if (!wait_for_leader(*world, 1)) return "no other leader";
  world->run(milliseconds(2));
  return end_of(*world);
}

TEST(RamcastRules, ALeaderTakesOverTheClocksOfTheMembers) {
  expect_needed(Mutant::rc_clock_lost, a_leader_with_a_small_clock, "may_add");
}

TEST(RamcastRules, AServerRaisesItsClockBeforeItAcknowledges) {
  expect_needed(Mutant::rc_clock_not_raised, a_leader_with_a_small_clock, kHole);
}

/// Nodes 0 and 1 alone have a message and its stamp. The others choose a leader, which gives larger
/// stamps to later messages. Node 0 leads again, with one of them.
std::string a_stamp_that_was_overtaken() {
  const auto world = connected(shape_of(5, 2));
  for (const std::uint32_t node : {2U, 3U, 4U}) {
    world->cut(0, node);
    world->cut(5, node);
  }
  world->submit(5, 1, 60);
  const std::uint64_t before = world->delivered(2);
  const auto acknowledged = [&] { return world->engine(1).counts().acknowledged > before; };
  if (!world->run_until(acknowledged, milliseconds(5))) return "not acknowledged";
  world->pause(0);
  world->pause(1);
  for (int i = 0; i < 20; ++i) world->submit(6, 1, 60);
  if (!world->run_until([&] { return world->delivered(2) == before + 20; }, milliseconds(180))) {
    return "no other leader";
  }
  world->crash(2);
  world->pause(4);
  world->heal_all();
  world->resume(0);
  world->resume(1);
  if (!wait_for_leader(*world, 0)) return "does not lead again";
  world->run(milliseconds(2));
  return end_of(*world);
}

TEST(RamcastRules, StampsOfEarlierRoundsAreVoid) {
  expect_needed(Mutant::rc_old_stamps_count, a_stamp_that_was_overtaken, kStuck);
}

/// Node 6 has seen stamps that the next leader and its majority have not. It gets the base, and
/// then nothing of the log; it learns from the others which key a later message has.
std::string a_member_with_a_large_clock() {
  Shape shape = shape_of(7, 3);
  shape.options.repair = seconds(1);
  const auto world = connected(shape);
  for (const std::uint32_t node : {1U, 2U, 3U, 4U, 5U}) {
    world->cut(0, node);
    world->cut(6, node);
    world->cut(7, node);
  }
  for (int i = 0; i < 40; ++i) world->submit(7, 1, 60);
  world->run(microseconds(200));
  world->crash(7);
  world->pause(0);
  if (!wait_for_leader(*world, 1)) return "no other leader";
  world->heal_all();
  const auto begun = [&] {
    return world->engine(6).describe().find("synchronized 2") != std::string::npos;
  };
  if (!world->run_until(begun, milliseconds(60))) return "no base";
  world->cut(1, 6);
  world->cut(8, 6);
  world->submit(8, 1, 60);
  world->run(microseconds(200));
  world->submit(9, 1, 60);
  world->run(milliseconds(1));
  return end_of(*world);
}

TEST(RamcastRules, ABaseCertifiesTheClockOfItsLeader) {
  expect_needed(Mutant::rc_own_clock_certifies, a_member_with_a_large_clock, kHole);
}

/// Node 0 knows the key of a message to both domains. Then the only node of the other domain
/// restarts, and begins a new order, in which it proposes another stamp for the message.
std::string a_domain_that_lost_its_order() {
  Shape shape = shape_of(3, 1);
  shape.domains.push_back(1);
  shape.options.repair = seconds(1);
  const auto world = connected(shape);
  const std::uint64_t before = world->delivered(0);
  world->cut(0, 3);  // the other domain does not acknowledge yet
  world->submit(4, 0, 60);
  const auto acknowledged = [&] {
    return world->engine(1).counts().acknowledged > before &&
           world->engine(2).counts().acknowledged > before;
  };
  if (!world->run_until(acknowledged, milliseconds(5))) return "not acknowledged";
  world->heal_all();
  for (const std::uint32_t node : {1U, 2U}) world->cut(3, node);
  if (!world->run_until([&] { return world->delivered(0) > before; }, milliseconds(80))) {
    return "not delivered";
  }
  world->crash(3);
  world->crash(0);
  world->run(milliseconds(5));  // what was under way is lost
  world->heal_all();
  world->start(3);
  world->run(seconds(1));
  return world->broken();
}

TEST(RamcastRules, StampsOfALostOrderAreNotReplaced) {
  expect_needed(Mutant::rc_orders_mixed, a_domain_that_lost_its_order, "a message with two keys");
}

/// Server 0 stops for a moment, comes back, and gets a base of the round of server 1, which names a
/// message whose unit only server 1 and the sender have. Both crash.
std::string a_base_without_units() {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.repair = seconds(1);
  const auto world = connected(shape);
  world->pause(0);
  if (!wait_for_leader(*world, 1)) return "no other leader";
  for (const std::uint32_t server : {0U, 2U}) world->cut(3, server);
  world->cut(1, 2, Area::log);
  const std::uint64_t proposals = world->engine(1).counts().proposals;
  world->submit(3, 1, 60);
  const auto proposed = [&] { return world->engine(1).counts().proposals > proposals; };
  if (!world->run_until(proposed, milliseconds(5))) return "not proposed";
  world->resume(0);
  world->run(milliseconds(10));
  world->crash(1);
  world->crash(3);
  world->heal_all();
  return end_of(*world);
}

TEST(RamcastRules, ABaseHasNoUnits) {
  expect_needed(Mutant::rc_base_has_units, a_base_without_units, kHole);
}

/// A sender has sent a message to both domains, and comes back as another incarnation. The first
/// domain has delivered the message and is done with the former one. In the second domain the
/// leader crashes before a majority of it knows the key.
std::string a_finished_sender() {
  Shape shape = shape_of(3, 1);
  shape.domains.push_back(3);
  shape.options.repair = milliseconds(100);
  const auto world = connected(shape);
  world->submit(6, 0, 60);
  if (!world->run_until([&] { return world->is_quiet(); }, seconds(1))) return "not connected";
  const std::uint64_t before = world->delivered(0);
  for (const std::uint32_t server : {4U, 5U}) world->cut(3, server, Area::cells);
  world->cut(6, 5);
  world->submit(6, 0, 60);
  const auto delivered = [&] {
    return world->delivered(0) > before && world->delivered(1) > before &&
           world->delivered(2) > before;
  };
  if (!world->run_until(delivered, milliseconds(50))) return "not delivered";
  world->crash(6);
  world->start(6);
  world->submit(6, 1, 60);
  world->run(milliseconds(30));
  world->crash(3);
  return end_of(*world);
}

TEST(RamcastRules, KeysOfFinishedSendersAreTold) {
  expect_needed(Mutant::rc_past_keys_forgotten, a_finished_sender, kStuck);
}

/// Server 2 stops behind the timestamp of a message, without its unit, and is excluded. The others
/// deliver the message, and later one more of its sender, which the other domain delivers, too.
/// Then server 1, which does not know that key yet, leads with server 2. Another message comes
/// behind.
std::string a_member_that_lags() {
  Shape shape = shape_of(3, 2);
  shape.domains.push_back(1);
  shape.packet_most = shape.packet_least;  // server 2 gets what it is owed at once
  const auto world = connected(shape);
  world->submit(4, 0, 60);
  if (!world->run_until([&] { return world->is_quiet(); }, seconds(1))) return "not connected";
  world->cut(4, 2);
  for (const std::uint32_t server : {0U, 1U, 3U}) world->cut(server, 2, Area::cells);
  world->pause(2);
  const std::uint64_t before = world->delivered(1);
  world->submit(4, 0, 60);
  const auto excluded = [&] { return world->view(1).size() == 2 && world->delivered(1) > before; };
  if (!world->run_until(excluded, seconds(2))) return "not excluded";
  world->run(milliseconds(20));
  world->cut(0, 1, Area::cells);
  const std::uint64_t former = world->delivered(3);
  world->submit(4, 0, 60);
  const auto far = [&] { return world->delivered(3) > former; };
  if (!world->run_until(far, milliseconds(10))) return "not delivered";
  world->submit(5, 1, 60);  // behind that one
  world->run(microseconds(200));
  world->crash(0);
  world->resume(2);
  world->run(milliseconds(500));
  return end_of(*world);
}

TEST(RamcastRules, APastMessageIsNoLostOne) {
  expect_needed(Mutant::rc_past_in_base, a_member_that_lags, kHole);
}

/// Server 1 has few free buffers. It and the leader alone have the messages, when the leader and
/// the sender crash.
std::string a_member_without_buffers() {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.repair = seconds(1);
  const auto world = connected(shape);
  const std::uint64_t before = world->delivered(0);
  world->cut(3, 2);
  world->cut(0, 2);
  world->cut(3, 1, Area::messages);
  world->take_buffers(1, kBuffersForPackets + 10);
  for (int i = 0; i < 50; ++i) world->submit(3, 1, 60);
  const auto delivered = [&] { return world->delivered(0) >= before + 50; };
  if (!world->run_until(delivered, milliseconds(10))) return "not delivered";
  const std::uint64_t all = world->delivered(0);
  world->crash(0);
  world->crash(3);
  world->run(milliseconds(300));
  world->give_buffers(1);
  const std::string wrong = end_of(*world);
  return wrong.empty() && world->delivered(2) != all ? "lost" : wrong;
}

TEST(RamcastRules, AUnitOfTheLogNeedsNoBuffer) {
  expect_needed(Mutant::rc_logged_unit_lost, a_member_without_buffers, kHole);
}

/// Members whose knowledge of releases is late, and servers without a base, while the leaders
/// change.
std::string leaders_that_nobody_hears() {
  for (std::int64_t offset = 0; offset < 2; ++offset) {
    const UnheardEnd end = unheard_leaders({.suspect = milliseconds(12), .offset = offset});
    if (!end.wrong().empty()) return end.wrong();
  }
  return {};
}

TEST(RamcastRules, AMemberHasSpaceForWhatItsLeaderProposes) {
  expect_needed(Mutant::rc_window_ignored, leaders_that_nobody_hears, "two messages with one key");
}

/// Server 4 hears no signs of life of the others until it can keep no more messages. Meanwhile
/// server 1 restarts, and the others are in a view that server 4 does not know.
std::string a_member_that_can_keep_no_more() {
  Shape shape{.domains = {5}, .outsiders = 1};
  shape.options.slots = 4;
  shape.options.suspect = milliseconds(100);
  const auto world = connected(shape);
  const std::uint64_t before = world->delivered(4);
  for (const std::uint32_t server : {0U, 1U, 2U, 3U}) world->cut(server, 4, Area::control);
  for (int i = 0; i < 200; ++i) world->submit(5, 1, 60);
  world->run(milliseconds(80));
  world->crash(1);
  world->run(milliseconds(5));
  world->start(1);
  world->run(milliseconds(50));
  world->heal_all();
  const std::string wrong = end_of(*world);
  return wrong.empty() && world->delivered(4) != before + 200 ? "lost" : wrong;
}

TEST(RamcastRules, AMemberThatCanKeepNoMoreGetsABase) {
  expect_needed(Mutant::rc_full_member_waits, a_member_that_can_keep_no_more, kStuck);
}

/// Server 0 leads, and delivers neither of two views: one takes in server 2 and leaves out server
/// 1, the next one the other way round with server 0. No server is a member of all three views.
std::string members_that_take_turns() {
  Shape shape = shape_of(3, 1);
  shape.options.repair = milliseconds(150);
  const auto world = connected(shape);
  if (!leave_out(*world, 2)) return "no view";
  // Server 0 hears of no acknowledgement any more.
  world->cut(1, 0);
  for (int i = 0; i < 20; ++i) world->submit(3, 1, 60);
  world->run(milliseconds(280));
  world->heal_all();
  world->cut(1, 0);
  world->cut(2, 0, Area::cells);
  const std::vector<NodeId> first{NodeId{1}, NodeId{3}};
  const std::vector<NodeId> second{NodeId{2}, NodeId{3}};
  if (!world->run_until([&] { return world->view(2) == first; }, seconds(1))) return "not back";
  cut_off(*world, 0);
  // Two of three servers go on. Server 1 has not delivered the view without it.
  if (!world->run_until([&] { return world->view(1) == second; }, seconds(2))) return kStopped;
  if (world->view(0).size() != 2 || world->view(0) == first) return "server 0 has another view";
  for (int i = 0; i < 100; ++i) world->submit(3, 1, 60);
  world->run(milliseconds(100));
  return end_of(*world);
}

TEST(RamcastRules, ServersThatAreNoMembersRetainToo) {
  expect_needed(Mutant::rc_left_out_forgets, members_that_take_turns, kStopped);
}

/// A view takes in server 2, which delivers it. The leader crashes before server 1 has read of it,
/// and server 1 leads: it delivers the view once a majority has its base, server 2 included.
std::string a_leader_that_has_to_deliver_a_view() {
  const auto world = connected(shape_of(3, 1));
  if (!leave_out(*world, 2)) return "no view";
  world->heal_all();
  if (!world->run_until([&] { return world->is_outside(2); }, seconds(1))) return "not outside";
  world->cut(0, 1, Area::log);
  if (!world->run_until([&] { return !world->is_outside(2); }, seconds(1))) return "not back";
  if (world->view(1).size() == 3) return "server 1 knows";
  world->crash(0);
  for (int i = 0; i < 100; ++i) world->submit(3, 1, 60);
  const bool goes_on = world->run_until([&] { return world->is_quiet(); }, seconds(5));
  return goes_on ? world->broken() : "stopped";
}

TEST(RamcastRules, MembersOfAViewThatALeaderHasToDeliverGetItsBase) {
  expect_needed(Mutant::rc_later_view_owes, a_leader_that_has_to_deliver_a_view, "stopped");
}

/// A view takes in server 2 and leaves out server 1, which delivers it. The leader crashes before
/// server 2 has read of it.
std::string a_view_that_only_a_left_out_server_knows() {
  const auto world = connected(shape_of(3, 1));
  if (!leave_out(*world, 2)) return "no view";
  world->heal_all();
  world->cut(1, 0, Area::control);
  world->cut(0, 2, Area::log);
  const std::vector<NodeId> first{NodeId{1}, NodeId{3}};
  if (!world->run_until([&] { return world->view(0) == first; }, seconds(1))) return "not back";
  world->run(milliseconds(50));
  world->crash(0);
  for (int i = 0; i < 100; ++i) world->submit(3, 1, 60);
  const bool goes_on = world->run_until([&] { return world->is_quiet(); }, seconds(5));
  return goes_on ? world->broken() : kStopped;
}

TEST(RamcastRules, AServerOutsideLeadsIfNoMemberCan) {
  expect_needed(Mutant::rc_outside_never_leads, a_view_that_only_a_left_out_server_knows, kStopped);
}

/// Server 2 is outside. It has heard last of server 1 that this one is outside, too. Since then
/// servers 0 and 1 have released a message, and a view has taken in server 2, which it does not
/// know. Then server 0 restarts, and server 2 asks to lead.
std::string a_server_outside_that_has_not_heard(Duration until_healed) {
  Shape shape = shape_of(3, 1);
  shape.options.repair = milliseconds(300);
  const auto world = connected(shape);
  if (!leave_out(*world, 1)) return "no view";
  world->heal_all();
  // A view takes in server 1, and leaves out server 2, which is silent for the leader.
  world->cut(2, 0, Area::control);
  world->cut(0, 1, Area::log);
  const std::vector<NodeId> first{NodeId{1}, NodeId{2}};
  if (!world->run_until([&] { return world->view(0) == first; }, seconds(1)))
    return "no first view";
  if (!world->run_until([&] { return world->is_outside(2); }, seconds(2))) return "not outside";
  world->run(milliseconds(5));
  world->heal_all();
  for (const Area area : {Area::log, Area::cells}) world->cut(0, 2, area);
  for (const Area area : {Area::control, Area::cells}) world->cut(1, 2, area);
  world->submit(3, 1, 60);
  const auto taken_in = [&] { return world->view(1).size() == 3; };
  if (!world->run_until(taken_in, milliseconds(80))) return "not taken in";
  world->run(milliseconds(2));
  world->cut(2, 1, Area::control);
  world->cut(0, 1);
  world->crash(0);
  world->start(0);
  world->run(until_healed);
  world->heal_all();
  world->run(milliseconds(200));
  return end_of(*world);
}

std::string servers_outside_that_have_not_heard() {
  for (const std::int64_t wait : {700, 900, 1'300}) {
    const std::string wrong = a_server_outside_that_has_not_heard(microseconds(wait));
    if (!wrong.empty()) return wrong;
  }
  return {};
}

TEST(RamcastRules, AServerOutsideLeadsInTheViewThatItHasDelivered) {
  expect_needed(Mutant::rc_outside_leads_inside, servers_outside_that_have_not_heard, kStuck);
}

/// Two servers are left out, one after the other. Two of the three members crash before they
/// deliver that view.
std::string members_that_crash_before_they_deliver_the_view() {
  const auto world = connected(shape_of(5, 1));
  world->cut(3, 0, Area::control);
  if (!world->run_until([&] { return world->view(2).size() == 4; }, seconds(1))) return "no view";
  world->cut(4, 0, Area::control);
  world->run(milliseconds(120));
  for (const std::uint32_t server : {1U, 2U}) world->pause(server);  // the leader writes to them
  const auto excluded = [&] { return world->view(0).size() == 3; };
  if (!world->run_until(excluded, milliseconds(200))) return "no view";
  for (const std::uint32_t server : {1U, 2U}) world->crash(server);
  world->heal_all();
  for (int i = 0; i < 20; ++i) world->submit(5, 1, 60);
  return end_of(*world);
}

TEST(RamcastRules, AllThatCanComeBackDoSoAtOnce) {
  expect_needed(Mutant::rc_one_comes_back, members_that_crash_before_they_deliver_the_view, kStuck);
}

}  // namespace
}  // namespace peal::order::ramcast::test
