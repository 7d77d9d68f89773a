// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/generator/swarm.h"
#include "sim/run/runner.h"
#include "sim/scenario/scenario.h"

namespace peal::sim {
namespace {

using testing::HasSubstr;

Outcome tell(const std::string& lines, sim_hooks::Mutant mutant = sim_hooks::Mutant::none) {
  RunOptions options;
  options.mutant = mutant;
  return run_script(parse_script("story", "cluster nodes=2 seed=1 groups=yes\n" + lines), options);
}

/// With groups, a seed gives the same scenario as without groups, except for `groups=yes`.
TEST(Clients, AStoryWithGroupsIsTheStoryOfItsSeed) {
  SwarmOptions with;
  with.groups = true;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::string text = make_swarm_script(seed, with).text();
    const std::size_t at = text.find(" groups=yes");
    ASSERT_NE(at, text.npos);
    text.erase(at, 11);
    EXPECT_EQ(text, make_swarm_script(seed, {}).text());
  }
}

TEST(Clients, ARunWithGroupsRepeatsExactly) {
  SeedOptions options;
  options.swarm.groups = true;
  const RunResult first = run_seed(3, options);
  EXPECT_EQ(first.property, "") << first.text;
  EXPECT_EQ(first.digest, run_seed(3, options).digest);
  EXPECT_GT(first.figures.group_deliveries, 100U);
  EXPECT_GT(first.figures.group_views, 20U);
  EXPECT_GT(first.figures.group_exchanges, 2U);
  EXPECT_NE(first.digest, run_seed(3, {}).digest);
}

TEST(Clients, DoWhatAStorySays) {
  const Outcome outcome = tell(
      "client n1,n2 x,y1-y2 join g,h\n"
      "run until idle\n"
      "expect all group g,h \"x@n1 y1@n1 y2@n1 x@n2 y1@n2 y2@n2\"\n"
      "client n1 y1 leave g\n"
      "client n2 y2 disconnect\n"
      "client n1 x send g,#stranger#n2 agreed self-discard \"a\"\n"
      "client n2 stranger connect\n"
      "client n2 stranger send h safe size=5000 count=3\n"
      "run until idle\n"
      "expect all group g \"x@n1 y2@n1 x@n2 y1@n2\"\n"
      "expect n1 client y2 got \"a\"\n"
      "expect n2 client x,y1,stranger got \"a\"\n"
      "expect n1 client x,y1 missed \"a\"\n"
      "expect counter n1 group_views >= 12\n"
      "mark\n"
      "client n1 x send g agreed \"b\"\n"
      "run until idle\n"
      "expect delta n2 group_delivered == 2\n"
      "settle\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

TEST(Clients, AnExpectationThatIsNotMetFails) {
  const std::string begin = "client n1 x join g\nclient n1 x send g agreed \"a\"\nrun until idle\n";
  EXPECT_THAT(tell(begin + "expect n2 group g \"\"\n").failure, HasSubstr("n2 has \"x@n1\" in g"));
  EXPECT_THAT(tell(begin + "expect n1 client x missed \"a\"\n").failure,
              HasSubstr("x at n1 got it"));
  EXPECT_THAT(tell(begin + "expect n1 client x got \"b\"\n").failure, HasSubstr("did not get it"));
  EXPECT_THAT(tell(begin + "expect n2 client x got \"a\"\n").failure, HasSubstr("did not get it"));
}

TEST(Clients, MistakesAreNamed) {
  const auto error = [](const std::string& line) { return tell(line + "\n").error; };
  EXPECT_THAT(error("client n1 x sing"),
              HasSubstr("'sing': accepted is connect, disconnect, join, leave or send"));
  EXPECT_THAT(error("client n1 x1-y9 join g"), HasSubstr("is no range of names such as x1-x9"));
  EXPECT_THAT(error("client n1 x send g soon \"a\""), HasSubstr("'soon' is no service"));
  EXPECT_THAT(run_script(parse_script("s", "cluster nodes=2\nclient n1 x join g\n")).error,
              HasSubstr("there are clients in a cluster with groups=yes only"));
  EXPECT_THAT(run_script(parse_script("s", "cluster groups=yes message-bytes=2000\n")).error,
              HasSubstr("accepted for groups is at least 3072"));
}

/// A node whose clock was set back takes another epoch before its first view. Its clients acted
/// before that, and belong to the new incarnation.
TEST(Clients, AreKnownByTheEpochThatTheirNodeGetsInTheEnd) {
  const Outcome outcome = tell(
      "crash n2\n"
      "start n2 epoch=-5000\n"
      "client n2 x join g\n"
      "client n2 x send g agreed \"early\"\n"
      "run until event n2 epoch_corrected within 5s\n"
      "run until installed all members=all within 5s\n"
      "run until idle\n"
      "expect all group g \"x@n2\"\n"
      "expect n2 client x got \"early\"\n"
      "settle\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

/// The simulator itself checks that no client's message is delivered during an exchange.
TEST(Clients, AMessageOutOfTurnIsNoticed) {
  const Outcome outcome = tell(
      "client n1,n2 x join g\nrun until idle\ncut n1 from n2\n"
      "run until installed n1 members=n1 within 5s\n"
      "client n1,n2 x send g agreed size=3000 count=40\n"
      "on event all view_installed do client all x send g agreed \"a\"\n"
      "heal\nrun until installed all members=all within 5s\nrun until idle\nsettle\n",
      sim_hooks::Mutant::gm3_sends_not_blocked);
  EXPECT_EQ(outcome.property(), "groups");
  EXPECT_THAT(outcome.problem(), HasSubstr("a client's message during an exchange"));
}

}  // namespace
}  // namespace peal::sim
