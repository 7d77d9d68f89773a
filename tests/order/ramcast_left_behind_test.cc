// SPDX-License-Identifier: Apache-2.0
// Leaders that the others have left behind, and leaders that reach too few.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ramcast_stories.h"
#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

using sim_hooks::Mutant;

/// Slots are few, so that a sender soon uses them again.
Shape few_slots(std::uint32_t servers, std::uint32_t outsiders) {
  Shape shape{.domains = {servers}, .outsiders = outsiders};
  shape.options.slots = 4;
  shape.options.inline_bytes = 0;
  shape.options.suspect = milliseconds(20);
  shape.options.repair = milliseconds(15);
  return shape;
}

std::string end_when_settled(World& world) {
  world.heal_all();
  for (std::uint32_t node = 0; node < world.nodes(); ++node) world.resume(node);
  const bool settled = world.run_until([&] { return world.is_settled(); }, seconds(5));
  const bool quiet = world.run_until([&] { return world.is_quiet(); }, seconds(5));
  const std::string broken = world.broken();
  return !broken.empty() ? broken : settled && quiet ? "" : "stuck";
}

void split(World& world, const std::vector<std::uint32_t>& some,
           const std::vector<std::uint32_t>& others) {
  for (const std::uint32_t a : some) {
    for (const std::uint32_t b : others) {
      world.cut(a, b);
      world.cut(b, a);
    }
  }
}

bool deliver(World& world, std::uint32_t sender, std::size_t count) {
  const std::size_t before = world.places(sender).size();
  for (std::size_t i = 0; i < count; ++i) world.submit(sender, 1, 60);
  const auto placed = [&] { return world.places(sender).size() == before + count; };
  return world.run_until(placed, seconds(1));
}

bool is_in_view_of(World& world, std::uint32_t server, std::size_t members) {
  return world.run_until([&] { return world.view(server).size() == members; }, seconds(1));
}

/// A view takes in server 4, which has no base yet. The others deliver messages, and then a part of
/// them goes on without server 4 and without the leader, which does not know: it takes for past
/// what its sender has overwritten.
std::string a_server_that_is_taken_in() {
  const auto world = settled(few_slots(5, 2));
  if (!deliver(*world, 5, 1) || !deliver(*world, 6, 1)) return "not connected";
  world->crash(4);
  if (!is_in_view_of(*world, 0, 4)) return "not left out";
  world->start(4);
  if (!is_in_view_of(*world, 0, 5)) return "not taken in";
  world->pause(4);
  for (const std::uint32_t server : {1U, 2U, 3U}) {
    if (!is_in_view_of(*world, server, 5)) return "no view";
  }
  if (!deliver(*world, 5, 4) || !deliver(*world, 6, 1)) return "not delivered";
  if (!world->view(4).empty()) return "server 4 has a base";
  split(*world, {0, 4}, {1, 2, 3});
  if (!is_in_view_of(*world, 1, 3)) return "no view without the leader";
  if (!deliver(*world, 5, 6)) return "not released";
  world->run(milliseconds(1));
  world->resume(4);
  world->run(milliseconds(200));
  return end_when_settled(*world);
}

TEST(RamcastLeftBehind, AServerThatIsTakenInGetsNoBaseOfALeaderThatIsLeftBehind) {
  expect_needed(Mutant::rc_base_skips_view, a_server_that_is_taken_in, "node 5 delivered 1 of 5");
}

/// Server 6 is a member, has no base of the present leader yet, and has never met the sender 7,
/// which has restarted.
std::string a_sender_that_a_member_never_met() {
  const auto world = settled(few_slots(7, 2));
  if (!deliver(*world, 7, 1) || !deliver(*world, 8, 1)) return "not connected";
  world->pause(6);
  world->crash(0);
  if (!world->run_until([&] { return world->leader(1) == 1; }, seconds(1))) return "no leader";
  world->crash(7);
  world->start(7);
  split(*world, {7}, {6});
  if (!deliver(*world, 7, 4) || !deliver(*world, 8, 1)) return "not delivered";
  if (world->view(1).size() != 7) return "server 6 is excluded already";
  split(*world, {1, 6}, {2, 3, 4, 5});
  if (!is_in_view_of(*world, 2, 4)) return "no view without the leader";
  if (!deliver(*world, 7, 6)) return "not released";
  world->run(milliseconds(1));
  world->resume(6);
  world->run(milliseconds(200));
  world->start(0);
  return end_when_settled(*world);
}

TEST(RamcastLeftBehind, AMemberTakesNoBaseThatSkipsMessagesOfASenderThatItNeverMet) {
  expect_needed(Mutant::rc_base_skips_unknown, a_sender_that_a_member_never_met,
                "node 7 delivered 3 of 7");
}

/// All servers live. Two of four, or three of five, hear the leader, itself included.
std::string a_leader_without_a_majority(std::uint32_t leader, std::uint32_t servers) {
  const auto world = settled(few_slots(servers, 1));
  if (!deliver(*world, servers, 1)) return "not connected";
  for (std::uint32_t former = 0; former < leader; ++former) world->crash(former);
  if (!deliver(*world, servers, 1) || world->leader(1) != leader) return "another leader";
  split(*world, {leader}, {servers - 2, servers - 1});
  if (!deliver(*world, servers, 10)) return "stands still";
  for (std::uint32_t former = 0; former < leader; ++former) world->start(former);
  return end_when_settled(*world);
}

TEST(RamcastLeftBehind, ALeaderThatHearsNoMajorityIsDeposed) {
  expect_needed(
      Mutant::rc_deaf_leader_stays, [] { return a_leader_without_a_majority(0, 4); },
      "stands still");
}

TEST(RamcastLeftBehind, ALeaderThatHearsNoMajorityOfTheLivingIsDeposed) {
  expect_needed(
      Mutant::rc_deaf_leader_stays, [] { return a_leader_without_a_majority(1, 5); },
      "stands still");
}

}  // namespace
}  // namespace peal::order::ramcast::test
