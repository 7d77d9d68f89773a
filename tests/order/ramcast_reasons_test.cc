// SPDX-License-Identifier: Apache-2.0
// What why() says: for each reason to wait a world that waits for it, the nodes that are named, and
// the domain. Two answers have no world here, as they last for no longer than a turn: a message
// that a majority of each domain has acknowledged, and a server that has no space for its own next
// one though its former ones are released.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "order/ramcast/vocabulary.h"
#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

/// Nothing is repaired for now, and nobody is suspected, unless a scenario says otherwise.
Shape patient(const std::vector<std::uint32_t>& domains) {
  Shape shape{.domains = domains, .outsiders = 1};
  shape.options.suspect = seconds(10);
  shape.options.repair = seconds(1);
  shape.options.inline_bytes = 0;
  return shape;
}

/// The same with the usual times.
Shape alert(const std::vector<std::uint32_t>& domains) {
  return {.domains = domains, .outsiders = 1};
}

/// A world in its first views. Each node has sent a message to each domain: all connections that
/// messages need are open.
std::unique_ptr<World> busy(const Shape& shape) {
  auto world = settled(shape);
  for (std::uint32_t node = 0; node < world->nodes(); ++node) {
    for (Domain domain = 0; domain <= shape.domains.size(); ++domain) {
      world->submit(node, domain, 60);
    }
  }
  EXPECT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(2)));
  world->run(milliseconds(10));  // all know that all is released
  return world;
}

using Nodes = std::vector<std::uint32_t>;

void cut_all(World& world, const Nodes& from, const Nodes& to) {
  for (const std::uint32_t a : from) {
    for (const std::uint32_t b : to) {
      if (a != b) world.cut(a, b);
    }
  }
}

// ---- a domain without a leader, or without enough of its nodes ----

std::unique_ptr<World> one_node_does_not_start() {
  auto world = std::make_unique<World>(alert({3}), 1);
  world->start(0);
  world->start(1);
  world->run(milliseconds(200));
  return world;
}

std::unique_ptr<World> two_of_three_crash() {
  auto world = busy(alert({3}));
  world->crash(1);
  world->crash(2);
  world->run(milliseconds(200));
  return world;
}

std::unique_ptr<World> a_domain_of_two_loses_one() {
  auto world = busy(alert({3, 3}));
  for (const std::uint32_t node : {3U, 4U}) world->crash(node);
  world->run(milliseconds(200));
  return world;
}

std::unique_ptr<World> two_of_three_restart() {
  auto world = busy(alert({3}));
  for (const std::uint32_t node : {1U, 2U}) world->crash(node);
  for (const std::uint32_t node : {1U, 2U}) world->start(node);
  world->run(milliseconds(200));
  return world;
}

/// Server 1 asks to lead, and no packet arrives.
std::unique_ptr<World> a_candidate_gets_no_answer() {
  auto world = busy(alert({3}));
  world->set_loss(1);
  world->pause(0);
  world->run(milliseconds(200));
  world->submit(3, 1, 60);
  world->run(milliseconds(1));
  return world;
}

// ---- a server outside the view ----

/// Server 2 is excluded, and goes on.
std::unique_ptr<World> one_is_left_out() {
  auto world = busy(alert({3}));
  world->pause(2);
  for (int i = 0; i < 20; ++i) world->submit(3, 1, 60);
  world->run(milliseconds(300));
  EXPECT_EQ(world->view(0).size(), 2U);
  return world;
}

/// The others cannot send it what its last view owes to it.
std::unique_ptr<World> an_excluded_server_gets_nothing() {
  auto world = one_is_left_out();
  world->set_loss(1);
  world->resume(2);
  world->run(milliseconds(50));
  return world;
}

std::unique_ptr<World> an_excluded_server_is_outside() {
  auto world = one_is_left_out();
  world->resume(2);
  EXPECT_TRUE(world->run_until([&] { return world->is_outside(2); }, seconds(1)));
  return world;
}

/// The view with the new incarnation waits behind a message that is for another domain, too.
std::unique_ptr<World> a_server_restarts_behind_a_message() {
  auto world = busy(alert({3, 3}));
  for (const std::uint32_t server : {3U, 4U}) world->pause(server);
  world->submit(6, 0, 60);
  world->run(milliseconds(1));
  world->crash(2);
  world->start(2);
  world->run(milliseconds(300));
  return world;
}

// ---- a message ----

/// The sender's message does not arrive at server 2, and the others acknowledge it.
std::unique_ptr<World> a_unit_is_lost() {
  auto world = busy(patient({3}));
  world->cut(3, 2);
  world->submit(3, 1, 60);
  world->run(milliseconds(5));
  return world;
}

std::unique_ptr<World> another_domain_stands_still() {
  auto world = busy(patient({3, 3}));
  for (const std::uint32_t server : {3U, 4U, 5U}) world->pause(server);
  world->submit(6, 0, 60);
  world->run(milliseconds(5));
  return world;
}

std::unique_ptr<World> another_domain_has_crashed() {
  auto world = busy(patient({3, 3}));
  for (const std::uint32_t server : {3U, 4U, 5U}) world->crash(server);
  world->submit(6, 0, 60);
  world->run(milliseconds(5));
  return world;
}

/// The timestamps of domain 1 do not arrive in domain 2, which cannot acknowledge them.
std::unique_ptr<World> another_domain_lacks_a_timestamp() {
  auto world = busy(patient({3, 3}));
  cut_all(*world, {0, 1, 2}, {3, 4, 5});
  world->submit(6, 0, 60);
  world->run(milliseconds(1));
  return world;
}

/// The leader's log does not arrive at its followers.
std::unique_ptr<World> followers_lack_a_timestamp() {
  auto world = busy(patient({3}));
  for (const std::uint32_t follower : {1U, 2U}) world->cut(0, follower, Area::log);
  world->submit(3, 1, 60);
  world->run(milliseconds(1));
  return world;
}

/// As above, and a view without server 2 is in the log.
std::unique_ptr<World> a_view_is_not_acknowledged() {
  auto world = busy(alert({3}));
  world->cut(0, 1, Area::log);
  world->crash(2);
  world->run(milliseconds(200));
  return world;
}

/// Domain 2, of one node, proposes a timestamp, loses its order, and proposes another one. The
/// message is the first one of its sender there: a new order takes no later ones.
std::unique_ptr<World> another_domain_loses_its_order() {
  auto world = settled(alert({3, 1}));
  // So that domain 2 does not acknowledge.
  for (const std::uint32_t server : {0U, 1U, 2U}) world->cut(server, 3, Area::cells);
  world->submit(4, 0, 60);
  world->run(milliseconds(1));
  world->crash(3);
  world->run(milliseconds(5));
  world->heal_all();
  world->start(3);
  world->run(milliseconds(500));
  return world;
}

// ---- flow control, and what is delivered ----

std::unique_ptr<World> an_application_takes_nothing() {
  auto world = busy(patient({3}));
  world->set_room(2, 0);
  world->submit(3, 1, 60);
  world->run(milliseconds(5));
  return world;
}

std::unique_ptr<World> a_member_stands_still() {
  auto world = busy(patient({3}));
  world->pause(2);
  world->submit(3, 1, 60);
  world->run(milliseconds(5));
  return world;
}

/// The log has no space for more, as its readers stand still.
std::unique_ptr<World> a_log_is_full() {
  Shape shape = patient({3});
  shape.outsiders = 4;
  shape.options.inline_bytes = 1'024;
  shape.options.log_bytes = 16'384;
  auto world = busy(shape);
  for (const std::uint32_t server : {1U, 2U}) world->pause(server);
  for (std::uint32_t sender = 3; sender < world->nodes(); ++sender) {
    for (int i = 0; i < 60; ++i) world->submit(sender, 1, 1'000);
  }
  world->run(milliseconds(5));
  return world;
}

/// Server 2 does not learn what the others have delivered, until it can keep no more.
std::unique_ptr<World> a_member_can_keep_no_more() {
  Shape shape = patient({3});
  shape.options.slots = 2;
  auto world = busy(shape);
  for (const std::uint32_t other : {0U, 1U}) world->cut(other, 2, Area::control);
  for (int i = 0; i < 100; ++i) world->submit(3, 1, 60);
  world->run(milliseconds(20));
  return world;
}

/// A sender may have one message under way, and server 2 delivers nothing.
std::unique_ptr<World> a_sender_has_all_under_way() {
  Shape shape = patient({3});
  shape.options.slots = 1;
  auto world = busy(shape);
  world->pause(2);
  for (int i = 0; i < 2; ++i) {
    world->submit(3, 1, 60);
    world->submit(0, 1, 60);
  }
  world->run(milliseconds(5));
  return world;
}

std::unique_ptr<World> a_leader_stands_still() {
  auto world = busy(patient({3}));
  world->pause(0);
  world->submit(3, 1, 60);
  world->run(milliseconds(5));
  return world;
}

std::unique_ptr<World> a_domain_is_gone() {
  auto world = busy(patient({3, 3}));
  for (const std::uint32_t server : {3U, 4U, 5U}) world->crash(server);
  world->submit(6, 2, 60);
  world->run(milliseconds(50));
  return world;
}

struct Case {
  const char* name;
  std::unique_ptr<World> (*story)();
  std::uint32_t asked;  ///< this node's why()
  const WaitKind* kind;
  Nodes named;
  Domain domain = 1;        ///< that is named; 0: none
  bool of_message = false;  ///< the reason names a position
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

const Case kCases[] = {
    {"beginning", one_node_does_not_start, 0, &wait::beginning, {2}},
    {"majority", two_of_three_crash, 0, &wait::majority, {1, 2}},
    {"majority_of_a_domain", a_domain_of_two_loses_one, 5, &wait::majority, {3, 4}, 2},
    {"lost", two_of_three_restart, 0, &wait::lost, {0}},
    {"lost_as_a_restarted_one_says", two_of_three_restart, 1, &wait::lost, {0}},
    {"leader_is_a_candidate", a_candidate_gets_no_answer, 1, &wait::leader, {1}},
    {"leader_proposes_nothing", a_candidate_gets_no_answer, 2, &wait::leader, {0}},
    {"readmission_after_a_restart", a_server_restarts_behind_a_message, 2, &wait::readmission, {0}},
    {"readmission_from_outside", an_excluded_server_is_outside, 2, &wait::readmission, {0}},
    {"owed", an_excluded_server_gets_nothing, 2, &wait::owed, {0, 1}},
    {"packet", a_unit_is_lost, 2, &order::wait::packet, {3}, 1, true},
    {"timestamp", another_domain_stands_still, 0, &wait::timestamp, {}, 2, true},
    {"timestamp_of_nodes_that_are_gone",
     another_domain_has_crashed,
     0,
     &wait::timestamp,
     {3, 4, 5},
     2,
     true},
    {"acknowledgements_of_another_domain",
     another_domain_lacks_a_timestamp,
     0,
     &wait::acknowledgements,
     {3, 4, 5},
     2,
     true},
    {"acknowledgements_of_followers",
     followers_lack_a_timestamp,
     0,
     &wait::acknowledgements,
     {1, 2},
     1,
     true},
    {"acknowledgements_of_a_view",
     a_view_is_not_acknowledged,
     0,
     &wait::acknowledgements,
     {},
     1,
     true},
    {"replaced", another_domain_loses_its_order, 0, &wait::replaced, {}, 2, true},
    {"slow_application", an_application_takes_nothing, 2, &order::wait::slow_application, {2}},
    {"deliveries", a_member_stands_still, 0, &wait::deliveries, {2}, 1, true},
    {"window_of_the_log", a_log_is_full, 0, &order::wait::window, {1, 2}},
    {"window_of_slots", a_member_can_keep_no_more, 2, &order::wait::window, {0, 1}},
    {"window_of_a_sender", a_sender_has_all_under_way, 3, &order::wait::window, {0, 1, 2}, 0},
    {"window_of_a_server", a_sender_has_all_under_way, 0, &order::wait::window, {1, 2}, 0},
    {"place", a_leader_stands_still, 3, &wait::place, {}},
    {"place_in_a_domain_that_is_gone", a_domain_is_gone, 6, &wait::place, {3, 4, 5}, 2},
    {"nothing", an_application_takes_nothing, 3, &order::wait::nothing, {}, 0},
};

class RamcastReasons : public testing::TestWithParam<Case> {};

TEST_P(RamcastReasons, AreNamed) {
  const Case& row = GetParam();
  const auto world = row.story();
  const WaitReason reason = world->engine(row.asked).why();
  EXPECT_EQ(reason.kind->name, row.kind->name);
  EXPECT_EQ(reason.kind, row.kind);
  Nodes named;
  for (const MemberId& member : reason.all) named.push_back(member.node.value - 1);
  EXPECT_EQ(named, row.named);
  EXPECT_EQ(reason.who.node.value, named.empty() ? 0 : named.front() + 1);
  EXPECT_EQ(reason.domain, row.domain);
  EXPECT_EQ(reason.seq != 0, row.of_message);
  EXPECT_EQ(world->broken(), "");
}

INSTANTIATE_TEST_SUITE_P(Each, RamcastReasons, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& row) {
                           return std::string(row.param.name);
                         });

}  // namespace
}  // namespace peal::order::ramcast::test
