// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/run/mutants.h"

namespace peal::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Outcome run(const std::string& text, sim_hooks::Mutant mutant = sim_hooks::Mutant::none) {
  RunOptions options;
  options.mutant = mutant;
  return run_script(parse_script("story", text), options);
}

TEST(Scenario, TellsTheStoryOfTheStyleGuide) {
  const Outcome outcome =
      run("cluster order=ring nodes=3 seed=7\n"
          "submit n1 safe \"a\"\n"
          "cut n1 from n2,n3\n"
          "run 2s\n"
          "expect n2,n3 install transitional members=n2,n3\n"
          "expect n2,n3 same-deliveries\n"
          "expect n2,n3 install regular members=n2,n3\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
  EXPECT_EQ(outcome.faults.of(Fault::cut), 1U);
  EXPECT_GE(outcome.figures.view_changes, 3U);
}

struct Case {
  const char* line;
  const char* problem;
};

TEST(Scenario, NamesTheLineOfAMistakeBeforeAnythingRuns) {
  const Case cases[] = {
      {"frobnicate n1", "'frobnicate' is no command; tests/scenario/README.md lists them"},
      {"cluster nodes=3", "there is one cluster in a scenario, and it has been described"},
      {"crash n4", "'n4' is not in this cluster of 3 nodes"},
      {"submit n1 soon \"a\"", "'soon' is no service: safe, agreed, causal or fifo"},
      {"submit n1 safe a", "'a' stands where a quoted text is expected"},
      {"drop kind=letter",
       "'letter' is no kind of packet: token, data, join, commit, probe, hold_cancel, "
       "epoch_notice, state, submit, propose, prepare, promise, fetch, fetched, repeat, decided, "
       "checkpoint-get, checkpoint, relay, distribute, lacks, pass, lives, link-check, recall, "
       "word, log-heard, node, lacks_nodes, status, rotation, memory_hello, takeover, "
       "member_state, refusal, message_relay, pull, query, answer, backlog_request, backlog, "
       "backlog_view, beat, multicast, accept, ack, "
       "deliver, "
       "entry, fetch_entry, reply, new_leader, part, part_get, message, stamp, literal_hello "
       "or other"},
      {"expect violation E5",
       "'expect violation' needs a mutant: only a deliberate fault may break a property"},
      {"expect queue n1 = 0", "'=' is no comparison: == != <= >= < >"},
      {"run until morning", "'morning': accepted is installed, delivered, idle, event or packet"},
      {"on event n1 sunrise do crash n1",
       "'sunrise' is no event; src/order/vocabulary.h lists them, e.g. paused"},
      {"on event n1 token_lost do crash n9", "'n9' is not in this cluster of 3 nodes"},
  };
  for (const Case& c : cases) {
    const Outcome outcome =
        run("# a comment\ncluster nodes=3 seed=1\n" + std::string(c.line) + "\n");
    EXPECT_THAT(outcome.error, StartsWith("story:3: " + std::string(c.problem)));
    EXPECT_EQ(outcome.property(), "usage");
    EXPECT_EQ(outcome.figures.events, 0U);
  }
}

TEST(Scenario, SaysHowACommandIsWritten) {
  const Case cases[] = {
      {"pause n1", "pause NODES 700ms"},
      {"hold kind=letter", "drop|filter|delay 5ms-30ms|duplicate [delay=0-30ms]|hold "},
      {"run until delivered n1", "run until delivered NODES \"text\" [within 2s]"},
      {"expect views n1", "expect views NODE == 0"},
      {"expect n1 state odd", "expect NODES state running|paused|down"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(run("cluster nodes=3 seed=1\n" + std::string(c.line) + "\n").error,
                HasSubstr("; usage: " + std::string(c.problem)));
  }
}

TEST(Scenario, ChecksTheClusterLine) {
  const Case cases[] = {
      {"run 1s", "the first command must be 'cluster'"},
      {"cluster order=bus",
       "order=bus: accepted is \"ring\", \"paxos\", \"ridge\", \"toto\", \"ramcast\", "
       "\"whitebox\", "
       "\"skeen\" or \"literal\""},
      {"cluster order=ridge dissemination=bus",
       "dissemination=bus: accepted is \"distributors\" or \"ring\""},
      {"cluster order=ring optimistic=yes", "optimistic=yes: accepted with order=paxos or ridge"},
      {"cluster order=ridge ensembles=2 optimistic=yes",
       "ridge.optimistic = true does not go with ridge.ensembles = 2: leave one of the two out"},
      {"cluster order=ridge ensembles=2 merge=turns",
       "merge=turns: accepted is \"keys\" or \"rotation\""},
      {"cluster order=ridge merge=rotation",
       "ridge.merge = \"rotation\" does not go with ridge.ensembles = 1: leave it out, or set "
       "ridge.ensembles = 2 or more"},
      {"cluster order=paxos dissemination=ring", "dissemination=ring: accepted with order=ridge"},
      {"cluster nodes=0", "nodes=0: accepted is a number from 1 to 128"},
      {"cluster color=red",
       "color=red: neither a key of 'cluster' nor an option of the engine that takes this value"},
      {"cluster mutant=m99", "mutant=m99: no such mutant; src/base/mutants.h lists them"},
      {"cluster start=some", "start=some: accepted is all or none"},
      {"cluster first-count=9223372036854775803",
       "first-count=9223372036854775803: accepted is a number from 0 to 9223372036853727231"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(run(c.line).error, StartsWith("story:1: " + std::string(c.problem)));
  }
  EXPECT_EQ(run("cluster nodes=3 token_loss=1ms").error.find("story:1: ring.token_loss_ms"), 0U);
  EXPECT_EQ(run("# nothing\n").error, "story: there is no 'cluster' line");
}

TEST(Scenario, SendsToTheDomainsThatTheEngineAndTheNodeHave) {
  const auto error = [](const std::string& key) {
    const Outcome outcome =
        run("cluster order=ridge nodes=3 seed=1 domain1=n1,n2 domain2=n2,n3\nrun 300ms\n"
            "submit n2 agreed \"x\" " +
            key + "\n");
    return outcome.error;
  };
  EXPECT_EQ(error(""), "");
  EXPECT_EQ(error("domain=0"), "");
  EXPECT_EQ(error("domain=2,2"), "");
  EXPECT_THAT(error("domain=1,2"),
              StartsWith("story:3: with the engine ridge a message goes to one domain"));
  EXPECT_THAT(error("domain=3"), StartsWith("story:3: a node is not in domain 3"));
  for (const char* wrong : {"domain=16", "domain=1,", "domain=x"}) {
    EXPECT_THAT(error(wrong), HasSubstr(": accepted are numbers from 0 to 15, such as 1,3"));
  }
}

TEST(Scenario, TakesTunablesWithAndWithoutUnits) {
  EXPECT_TRUE(run("cluster nodes=1 token_loss_ms=150 max_gap=700 hold=0.5ms\n").ok());
}

/// Each of these expectations must fail.
TEST(Scenario, ExpectationsCanFail) {
  const Case cases[] = {
      {"expect n1 install regular members=n1",
       "n1 installed no regular view of n1; it installed regular n1,n2"},
      {"expect n1 delivers \"b\"", "n1 did not deliver it so"},
      {"expect n1 not delivers \"a\"", "n1 delivered it so"},
      {"expect n1 delivers \"a\" transitional", "n1 did not deliver it so"},
      {"expect n1 delivers \"c\" before \"a\"", "n1 did not deliver it so"},
      {"expect n2 delivered count=3", "n2 delivered 2 messages, expected 3"},
      {"expect n2 delivered count=0 from n1", "n2 delivered 2 messages, expected 0"},
      {"expect n1 state paused", "n1 is running"},
      {"expect views n1 > 0", "n1: views since the mark is 0, expected > 0"},
      {"expect queue n1 != 0", "n1: queued messages is 0, expected != 0"},
      {"expect events n1 token_lost >= 1", "n1: token_lost since the mark is 0, expected >= 1"},
      {"expect counter n1 no_such_thing == 0",
       "n1: no counter no_such_thing; is the node running?"},
      {"run until delivered n1,n2 \"b\" within 50ms", "n1,n2 did not deliver it in time"},
      {"run until packet kind=commit within 50ms", "no such packet in time"},
      {"run until event n1 token_lost within 50ms", "no such event in time"},
  };
  for (const Case& c : cases) {
    const Outcome outcome =
        run("cluster nodes=2 seed=1\n"
            "submit n1 agreed \"a\"\n"
            "submit n1 agreed \"c\"\n"
            "run until idle\n" +
            std::string(c.line) + "\n");
    EXPECT_EQ(outcome.failure, "story:5: " + std::string(c.problem));
    EXPECT_EQ(outcome.property(), "expect");
  }
}

TEST(Scenario, ExpectationsOfAViewCanFail) {
  const std::string crash = "cluster nodes=2 seed=1\nmark\ncrash n2\nrun 1s\n";
  EXPECT_TRUE(run(crash + "expect n1 view members=n1\nexpect views n1 == 1\n").ok());
  EXPECT_EQ(run(crash + "expect n1 view members=n1,n2\n").property(), "expect");
  EXPECT_EQ(run(crash + "expect no view change\n").property(), "expect");
  EXPECT_EQ(run(crash + "expect packets kind=join == 0\n").property(), "expect");
  EXPECT_EQ(run(crash + "expect n2 state running\n").failure, "story:5: n2 is down");
}

TEST(Scenario, ComparesTranscriptsLineByLine) {
  const std::string story =
      "cluster nodes=2 seed=1 driver=preferred\n"
      "run until idle\n"
      "transcript\n"
      "submit n2 agreed \"a\"\n"
      "run until packet kind=data from n2\n"
      "transcript stop\n"
      "expect transcript\n";
  const Outcome wrong = run(story + "  n9 data 5\nend\n");
  EXPECT_EQ(wrong.failure.find("story:8: expected 'n9 data 5', sent was 'n"), 0U) << wrong.failure;
  EXPECT_EQ(run(story).error, "story:7: 'expect transcript' has no 'end'");
}

TEST(Scenario, TriggersActAtTheirMoment) {
  const Outcome outcome =
      run("cluster nodes=3 seed=1\n"
          "on event n2 gather_started do crash n3\n"
          "on packet kind=commit nth 2 after 1ms do pause n2 5ms\n"
          "crash n1\n"
          "run 2s\n"
          "expect n3 state down\n"
          "expect n2 view members=n2\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
  EXPECT_EQ(outcome.faults.of(Fault::crash), 2U);
}

TEST(Scenario, HeldPacketsArriveWhenReleased) {
  const Outcome outcome =
      run("cluster nodes=2 seed=1\n"
          "hold kind=data from n1 to n2 retransmission=no\n"
          "drop kind=data from n1 to n2 retransmission=yes\n"
          "submit n1 agreed \"a\"\n"
          "run 20ms\n"
          "expect n2 not delivers \"a\"\n"
          "release\n"
          "run until delivered n2 \"a\" within 20ms\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

TEST(Scenario, AMutantMayBeExpectedToBreakAProperty) {
  const std::string story =
      "cluster nodes=3 seed=1 mutant=pack_wrong_order\n"
      "submit n1 agreed size=20 count=50\n"
      "run until idle\n";
  EXPECT_EQ(run(story).property(), "E7");
  EXPECT_TRUE(run(story + "expect violation E7\n").ok());
  EXPECT_TRUE(run(story + "expect violation any\n").ok());
  EXPECT_EQ(run(story + "expect violation E2\n").failure,
            "story:4: the violation E2 did not happen");
}

TEST(Scenario, AMutantMayBeExpectedToMissAnExpectation) {
  const std::string story =
      "cluster nodes=3 seed=1 mutant=leave_ignored\n"
      "leave n3\n"
      "run until installed n1,n2 members=n1,n2 within 50ms\n";
  EXPECT_EQ(run(story).property(), "expect");
  EXPECT_TRUE(run(story + "expect violation expect\n").ok());
  EXPECT_EQ(run("cluster mutant=leave_ignored\nexpect violation expect\n").failure,
            "story:2: every expectation was met");
}

TEST(Scenario, PositionsMayBeginAnywhereAndCountFromOne) {
  const Outcome outcome =
      run("cluster nodes=3 seed=1 first-count=4294967290\n"
          "submit n1 safe size=10000 count=3\n"
          "run until packet kind=data seq 4294967300 within 1s\n"
          "run until idle\n"
          "expect n3 delivered count=3\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

TEST(Scenario, HarmedPacketsAndOwnOnesAreDropped) {
  const Outcome outcome =
      run("cluster nodes=3 seed=1 loopback=yes\n"
          "load rate=500 for=300ms\n"
          "run 100ms\n"
          "inject damaged count=30 to n1\n"
          "inject truncated count=30 to n2\n"
          "run 300ms\n"
          "expect counter n1 bad_checksum >= 20\n"
          "expect counter n2 bad_length >= 10\n"
          "expect counter n3 own >= 30\n"
          "expect no view change\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

TEST(Scenario, MutantsAreFoundByTheirShortNames) {
  EXPECT_EQ(mutant_of_name("m1"), sim_hooks::Mutant::m1_obligation_forgotten);
  EXPECT_EQ(mutant_of_name("hold_forever"), sim_hooks::Mutant::hold_forever);
  EXPECT_FALSE(mutant_of_name("").has_value());
  EXPECT_FALSE(mutant_of_name("none").has_value());
  EXPECT_FALSE(mutant_of_name("m").has_value());
}

TEST(Settle, IsContentWithAHealthyCluster) {
  const Outcome outcome =
      run("cluster nodes=4 seed=1\n"
          "load rate=500\n"
          "run 200ms\n"
          "split n1,n2 | n3,n4\n"
          "run 1s\n"
          "settle n1,n2,n3 | n4\n");
  EXPECT_TRUE(outcome.ok()) << outcome.problem();
}

/// Each mutant breaks E10. The checks of `settle` must detect this.
TEST(Settle, NoticesWhatIsWrong) {
  const auto property = [](const char* story, sim_hooks::Mutant mutant) {
    return run("cluster nodes=3 seed=2\n" + std::string(story), mutant).property();
  };
  EXPECT_EQ(property("load rate=500\nnetwork loss=0.05\nrun 100ms\nsettle\n",
                     sim_hooks::Mutant::rtr_never_answered),
            "E10");
  EXPECT_EQ(property("settle\n", sim_hooks::Mutant::token_retx_never), "E10");
}

}  // namespace
}  // namespace peal::sim
