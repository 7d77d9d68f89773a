// SPDX-License-Identifier: Apache-2.0
#include "sim/run/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "sim/run/progress.h"

namespace peal::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

Arguments good(const std::vector<std::string>& words) {
  const auto parsed = parse_arguments(words);
  EXPECT_TRUE(parsed) << parsed.error().text;
  return parsed ? *parsed : Arguments{};
}

TEST(SimArguments, Defaults) {
  const Arguments a = good({});
  EXPECT_EQ(a.first, 1U);
  EXPECT_EQ(a.last, 100U);
  EXPECT_FALSE(a.seed);
  EXPECT_GE(a.jobs, 1U);
  EXPECT_TRUE(a.swarm.faults);
  EXPECT_LT(a.swarm.targeted, 0);
  EXPECT_FALSE(a.hunt_mutants);
}

TEST(SimArguments, EveryOptionIsStored) {
  const Arguments seeds = good({"--seeds",
                                "7-9",
                                "--nodes",
                                "5",
                                "--jobs=2",
                                "--order",
                                "ring",
                                "--set",
                                "token_loss=90ms",
                                "--set",
                                "consensus=200ms",
                                "--accelerated-window",
                                "0",
                                "--targeted",
                                "0.5",
                                "--no-faults",
                                "--groups",
                                "--no-replay-check",
                                "--json",
                                "-v",
                                "--mutant",
                                "m5"});
  EXPECT_EQ(seeds.first, 7U);
  EXPECT_EQ(seeds.last, 9U);
  EXPECT_EQ(seeds.swarm.nodes, 5U);
  EXPECT_EQ(seeds.jobs, 2U);
  EXPECT_THAT(seeds.swarm.overrides,
              testing::ElementsAre("token_loss=90ms", "consensus=200ms", "accelerated_window=0"));
  EXPECT_EQ(seeds.swarm.targeted, 0.5);
  EXPECT_FALSE(seeds.swarm.faults);
  EXPECT_TRUE(seeds.swarm.groups);
  EXPECT_FALSE(good({"--seed", "3"}).swarm.groups);
  EXPECT_TRUE(seeds.no_replay_check && seeds.json && seeds.verbose);
  EXPECT_NE(seeds.mutant, sim_hooks::Mutant::none);
  EXPECT_EQ(seeds.swarm.engine.choices(), "");
  EXPECT_EQ(good({"--order", "ridge", "--dissemination", "ring"}).swarm.engine.choices(),
            " dissemination=ring");
  EXPECT_EQ(
      good({"--merge", "rotation", "--order", "ridge", "--ensembles", "2"}).swarm.engine.choices(),
      " ensembles=2 merge=rotation");
  EXPECT_EQ(
      good({"--order", "paxos", "--optimistic", "--storage", "memory"}).swarm.engine.choices(),
      " optimistic=yes storage=memory");
  EXPECT_EQ(good({"--seeds", "12"}).last, 12U);
  EXPECT_EQ(good({"--seed", "1000000000000000000"}).seed, kSeedMax);
  EXPECT_TRUE(good({"--seed=3", "--print"}).print);
  const std::string out = testing::TempDir() + "sim-arguments-out";
  std::filesystem::remove(out);
  const Arguments shrink = good({"--seed", "3", "--shrink", "--out", out});
  EXPECT_TRUE(shrink.shrink);
  EXPECT_EQ(shrink.out, out);
  EXPECT_FALSE(std::filesystem::exists(out)) << "nothing is there to be written yet";
  EXPECT_EQ(good({"--seed", "3", "--trace", out}).trace, out);
  const Arguments mutants =
      good({"--mutants", "m5", "m6", "--budget", "9", "--mutant-scenarios", "/tmp"});
  EXPECT_TRUE(mutants.hunt_mutants);
  EXPECT_EQ(mutants.mutants.size(), 2U);
  EXPECT_EQ(mutants.budget, 9U);
  EXPECT_TRUE(good({"--json", "--mutants"}).hunt_mutants);
  const std::string story = "tests/scenario/C30-bridge.txt";
  EXPECT_EQ(good({"--scenario", story, story}).scripts.size(), 2U);
  EXPECT_TRUE(good({"--scenario", story, "--record"}).record);
}

TEST(SimArguments, SettingsMayNeedEachOther) {
  EXPECT_EQ(good({"--set", "hold=15ms", "--set", "token_retransmit=35ms"}).swarm.overrides.size(),
            2U);
  // The value is not allowed with the default settings, but it is allowed with other settings that
  // scenarios draw.
  EXPECT_EQ(good({"--set", "token_loss=90ms"}).swarm.overrides.size(), 1U);
}

TEST(SimArguments, HelpTeachesWithExamples) {
  for (const char* word : {"--help", "-h"}) {
    const auto help = parse_arguments(std::vector<std::string>{word});
    ASSERT_FALSE(help);
    EXPECT_EQ(help.error().status, 0);
    EXPECT_THAT(help.error().text, HasSubstr("Examples:"));
    std::string line;
    for (std::istringstream in(help.error().text); std::getline(in, line);) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

struct Bad {
  const char* words;  ///< split at spaces; '' is an empty word
  const char* start;
  const char* must;
};

constexpr const char* kSeedMust = "it must be a whole number from 1 to 1000000000000000000";
constexpr const char* kSeedsMust = "it must be a seed, or the first and the last one";
constexpr const char* kOneOf = "it must be one of --help, --seeds, --seed, --scenario";

const Bad kBad[] = {
    {"--seed -1", "--seed = \"-1\" is not", kSeedMust},
    {"--seed=-1", "--seed = \"-1\" is not", kSeedMust},
    {"--seed 0", "--seed = \"0\" is not", kSeedMust},
    {"--seed 1000000000000000001", "--seed = \"1000000000000000001\" is not", kSeedMust},
    {"--seed 18446744073709551616", "--seed = \"18446744073709551616\" is not", kSeedMust},
    {"--seed 1e3", "--seed = \"1e3\" is not", kSeedMust},
    {"--seed", "--seed without a value is not", kSeedMust},
    {"--seed ''", "--seed = \"\" is not", kSeedMust},
    {"--seed --print", "--seed = \"--print\" is not", kSeedMust},
    {"--seed 1 --seed 2", "--seed is not accepted twice", "there once, with a whole number from 1"},
    {"--seed=1 --seed=2", "--seed is not accepted twice", "there once, with a whole number from 1"},
    {"--seeds 1-99999999999999999999", "--seeds = \"1-99999999999999999999\" is not", kSeedsMust},
    {"--seeds 5-1", "--seeds = \"5-1\" is not", kSeedsMust},
    {"--seeds 0-5", "--seeds = \"0-5\" is not", kSeedsMust},
    {"--seeds -5", "--seeds = \"-5\" is not", kSeedsMust},
    {"--seeds 1-", "--seeds = \"1-\" is not", kSeedsMust},
    {"--seeds 1-2-3", "--seeds = \"1-2-3\" is not", kSeedsMust},
    {"--seeds ''", "--seeds = \"\" is not", kSeedsMust},
    {"--seeds all", "--seeds = \"all\" is not", kSeedsMust},
    {"--seeds 1-5 --seed 3", "--seeds is not accepted here", "without --seed, --scenario and"},
    {"--seeds 1-5 --mutants", "--seeds is not accepted here", "without --seed, --scenario and"},
    {"--seed 5 --mutants", "--seed is not accepted here", "without --seeds, --scenario and"},
    {"--order raft", "--order = \"raft\" is not", "\"ring\""},
    {"--nodes 0", "--nodes = \"0\" is not", "it must be a whole number from 1 to 128"},
    {"--nodes 129", "--nodes = \"129\" is not", "it must be a whole number from 1 to 128"},
    {"--nodes three", "--nodes = \"three\" is not", "it must be a whole number from 1 to 128"},
    {"--jobs 0", "--jobs = \"0\" is not", "it must be a whole number from 1 to 256"},
    {"--jobs 257", "--jobs = \"257\" is not", "it must be a whole number from 1 to 256"},
    {"--accelerated-window x --seed 3", "--accelerated-window = \"x\" is not", "0 to 4294967295"},
    {"--accelerated-window -1", "--accelerated-window = \"-1\" is not", "0 to 4294967295"},
    {"--targeted 1.1", "--targeted = \"1.1\" is not", "it must be a number from 0 to 1"},
    {"--targeted -0.1", "--targeted = \"-0.1\" is not", "it must be a number from 0 to 1"},
    {"--targeted nan", "--targeted = \"nan\" is not", "it must be a number from 0 to 1"},
    {"--set foo", "--set = \"foo\" is not", "it must be KEY=VALUE"},
    {"--set =3", "--set = \"=3\" is not", "it must be KEY=VALUE"},
    {"--set", "--set without a value is not", "it must be KEY=VALUE"},
    {"--set bogus=3", "--set = \"bogus=3\" is not", "neither a key of 'cluster' nor an option"},
    {"--set token_loss=x", "--set = \"token_loss=x\" is not",
     "nor an option of the engine that takes"},
    {"--set token_loss=1ms", "--set = \"token_loss=1ms\" is not",
     "ring.token_loss_ms = 1 must be 5 to 60000"},
    {"--set hold=15ms --set drift=3", "--set = \"hold=15ms\" is not",
     "ring.hold_ms = 15 must be less than half of ring.token_retransmit_ms = 20"},
    {"--set max_gap=20 --set global_window=9", "--set = \"max_gap=20 global_window=9\" is not",
     "ring.max_gap = 20 must be at least"},
    {"--set nodes=5", "--set = \"nodes=5\" is not", "'nodes' is given twice"},
    {"--set mutant=zz", "--set = \"mutant=zz\" is not", "src/base/mutants.h lists them"},
    {"--scenario /none", "--scenario = \"/none\" is not", "a scenario that can be read"},
    {"--scenario", "--scenario without a value is not", "the path of a scenario"},
    {"--scenario tests/scenario/README.md", "tests/scenario/README.md:3: ", "is no command"},
    {"--scenario tests/scenario/C30-bridge.txt --nodes 3", "--nodes is not accepted here",
     "without --scenario, whose file says it"},
    {"--order raft", "--order = \"raft\" is not",
     "it must be \"ring\", \"paxos\", \"ridge\", \"toto\", \"ramcast\", \"whitebox\", \"skeen\" or "
     "\"literal\""},
    {"--order paxos --accelerated-window 0", "--accelerated-window is not accepted here",
     "it must come with --order ring"},
    {"--dissemination ring", "--dissemination is not accepted here",
     "it must come with --order ridge"},
    {"--order ridge --dissemination bus", "--dissemination = \"bus\" is not",
     "it must be \"distributors\" or \"ring\""},
    {"--scenario tests/scenario/C30-bridge.txt --order ridge --dissemination ring",
     "--dissemination is not accepted here", "without --scenario, whose file says it"},
    {"--merge rotation", "--merge is not accepted here", "it must come with --order ridge"},
    {"--order ridge --merge rotation", "ridge.merge = \"rotation\" does not go with",
     "ridge.ensembles = 1"},
    {"--order ridge --domains 2 --merge rotation", "--merge is not accepted here",
     "it must come without --domains"},
    {"--order ridge --ensembles 2 --merge turns", "--merge = \"turns\" is not",
     "it must be \"keys\" or \"rotation\""},
    {"--scenario tests/scenario/C30-bridge.txt --merge rotation", "--merge is not accepted here",
     "without --scenario, whose file says it"},
    {"--optimistic", "--optimistic is not accepted here",
     "it must come with --order paxos or ridge"},
    {"--order ridge --ensembles 2 --optimistic", "ridge.optimistic = true does not go with",
     "ridge.ensembles = 2"},
    {"--scenario tests/scenario/C30-bridge.txt --optimistic", "--optimistic is not accepted here",
     "without --scenario, whose file says it"},
    {"--print", "--print is not accepted here", "it must come with --seed N"},
    {"--shrink", "--shrink is not accepted here", "with --seed N or one --scenario FILE"},
    {"--shrink --seeds 1-5", "--shrink is not accepted here", "with --seed N or one --scenario"},
    {"--seed 3 --shrink --print", "--shrink is not accepted here", "without --print"},
    {"--seed 3 --print --json", "--json is not accepted here", "without --print"},
    {"--seed 3 --out /tmp/x", "--out is not accepted here", "it must come with --shrink"},
    {"--seed 3 --shrink --out /none/x", "--out = \"/none/x\" is not", "(No such file or directory"},
    {"--seed 3 --shrink --out ''", "--out = \"\" is not", "a file that can be written"},
    {"--seed 3 --trace /", "--trace = \"/\" is not", "(Is a directory)"},
    {"--trace /tmp/x", "--trace is not accepted here", "with --seed N or one --scenario FILE"},
    {"--record", "--record is not accepted here", "it must come with one --scenario FILE"},
    {"--seed 3 --no-replay-check", "--no-replay-check is not accepted here", "with --seeds"},
    {"--mutant zz", "--mutant = \"zz\" is not", "the name of a deliberate fault"},
    {"--mutants zz", "--mutants = \"zz\" is not", "the name of a deliberate fault"},
    {"--mutants m5 zz", "--mutants = \"zz\" is not", "the name of a deliberate fault"},
    {"--mutant m5 --mutants", "--mutant is not accepted here", "without --mutants"},
    {"--budget 5", "--budget is not accepted here", "it must come with --mutants"},
    {"--mutants --budget 0", "--budget = \"0\" is not", "it must be a whole number from 1 to"},
    {"--mutants --mutant-scenarios /none", "--mutant-scenarios = \"/none\" is not", "a folder"},
    {"--bogus", "\"--bogus\" is not", kOneOf},
    {"--bogus=3", "\"--bogus=3\" is not", kOneOf},
    {"-x", "\"-x\" is not", kOneOf},
    {"extra", "\"extra\" is not", kOneOf},
    {"--json=maybe", "--json = \"maybe\" is not", "it must be without a value"},
};

TEST(SimArguments, BadOnesGetOneLineWithKeyValueAndWhatIsAccepted) {
  for (const Bad& bad : kBad) {
    SCOPED_TRACE(bad.words);
    std::vector<std::string> words;
    std::string word;
    for (std::istringstream in(bad.words); in >> word;) words.push_back(word == "''" ? "" : word);
    const auto parsed = parse_arguments(words);
    ASSERT_FALSE(parsed) << "it was accepted";
    EXPECT_EQ(parsed.error().status, 2);
    const std::string& text = parsed.error().text;
    EXPECT_THAT(text, testing::StartsWith(bad.start));
    EXPECT_THAT(text, HasSubstr(bad.must));
    EXPECT_THAT(text, Not(HasSubstr("\n")));
  }
}

TEST(Progress, SaysHowFarItIsAndHowLongItTakes) {
  EXPECT_EQ(progress_text("seeds", 0, 2'000, 0, 0.0), "0 of 2000 seeds, 0 violations");
  EXPECT_EQ(progress_text("seeds", 120, 2'000, 1, 4.0),
            "120 of 2000 seeds, 1 violation, 30.0 per second, 1 min 3 s left");
  EXPECT_EQ(progress_text("mutants", 1, 10, 0, 1'000.0),
            "1 of 10 mutants, 0 violations, 0.0 per second, 2 h 30 min left");
  EXPECT_THAT(progress_text("seeds", 20, 20, 2, 1.0), testing::EndsWith(", 0 s left"));
}

}  // namespace
}  // namespace peal::sim
