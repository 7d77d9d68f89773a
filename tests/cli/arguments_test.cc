// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/engine_options.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<Command, Stop> parse(const std::vector<std::string>& words) {
  return parse_arguments(words);
}

template <class C>
C command(const std::vector<std::string>& words) {
  const auto parsed = parse(words);
  EXPECT_TRUE(parsed) << parsed.error().text;
  const C* found = parsed ? std::get_if<C>(&*parsed) : nullptr;
  EXPECT_NE(found, nullptr);
  return found != nullptr ? *found : C{};
}

TEST(Arguments, Defaults) {
  EXPECT_EQ(command<UpCommand>({"up"}).nodes, 3U);
  EXPECT_EQ(command<SendCommand>({"send"}).service, Service::agreed);
  EXPECT_THAT(command<SendCommand>({"send"}).groups, testing::ElementsAre("all"));
  EXPECT_THAT(command<RecvCommand>({"recv"}).groups, testing::ElementsAre("all"));
  EXPECT_EQ(command<RecvCommand>({"recv"}).policy, wire::SlowPolicy::normal);
  EXPECT_FALSE(command<RecvCommand>({"recv"}).count);
  EXPECT_EQ(command<StatusCommand>({"status"}).timeout_s, 10);
  EXPECT_TRUE(command<BenchCommand>({"bench"}).rate.is_max());
  EXPECT_FALSE(command<BenchCommand>({"bench"}).limit_only);
  EXPECT_TRUE(command<BenchCommand>({"bench", "limit"}).limit_only);
  command<VersionCommand>({"version"});
  command<VersionCommand>({"--version"});
}

TEST(Arguments, EveryOptionIsStored) {
  const auto up =
      command<UpCommand>({"up", "--nodes", "5", "--dir=/x", "--order", "paxos", "--trace"});
  EXPECT_EQ(up.nodes, 5U);
  EXPECT_EQ(up.dir, "/x");
  EXPECT_EQ(up.order->name, "paxos");
  EXPECT_EQ(up.options, order::OptionValues{});
  const auto ways = command<UpCommand>({"up", "--order", "ridge", "--dissemination", "ring",
                                        "--ensembles", "3", "--merge", "rotation"});
  EXPECT_EQ(order::chosen_word(ways.options, kDissemination), "ring");
  EXPECT_EQ(ensembles_of(ways.options), 3);
  EXPECT_TRUE(is_rotation(ways.options));
  EXPECT_FALSE(up.streams);
  EXPECT_TRUE(command<UpCommand>({"up", "--order", "paxos", "--data", "streams"}).streams);
  EXPECT_TRUE(command<BenchCommand>({"bench", "--order", "ridge", "--data", "streams"}).streams);
  EXPECT_TRUE(up.trace);
  const auto node =
      command<NodeCommand>({"node", "--config", "f", "--name", "a-1", "--trace", "t", "--json"});
  EXPECT_EQ(node.config, "f");
  EXPECT_EQ(node.name, "a-1");
  EXPECT_EQ(node.trace, "t");
  EXPECT_TRUE(node.json);
  EXPECT_TRUE(command<NodeCommand>({"node", "--print-config"}).print_config);
  const auto send = command<SendCommand>({"send", "--service", "safe", "--to", "d", "--group", "g",
                                          "f1", "--group", "#x#n1", "--name", "me", "f2"});
  EXPECT_THAT(send.groups, testing::ElementsAre("g", "#x#n1"));
  EXPECT_EQ(send.name, "me");
  EXPECT_EQ(send.service, Service::safe);
  EXPECT_EQ(send.to, "d");
  EXPECT_THAT(send.files, testing::ElementsAre("f1", "f2"));
  const auto recv =
      command<RecvCommand>({"recv", "--count", "7", "--views", "--json", "--digest", "--to", "d"});
  EXPECT_EQ(recv.count, 7U);
  EXPECT_TRUE(recv.views && recv.json && recv.digest);
  EXPECT_EQ(recv.to, "d");
  const auto slow = command<RecvCommand>(
      {"recv", "--group=a", "--group", "b c", "--name", "x", "--policy", "drop"});
  EXPECT_THAT(slow.groups, testing::ElementsAre("a", "b c"));
  EXPECT_EQ(slow.name, "x");
  EXPECT_EQ(slow.policy, wire::SlowPolicy::drop);
  const auto status = command<StatusCommand>(
      {"status", "--wait", "members=128", "--timeout", "0.5", "--json", "--views", "--to", "d"});
  EXPECT_EQ(status.wait_members, 128U);
  EXPECT_EQ(status.timeout_s, 0.5);
  EXPECT_TRUE(status.json && status.views);
  EXPECT_EQ(command<StatusCommand>({"status", "--wait", "delivered=0"}).wait_delivered, 0U);
  EXPECT_EQ(command<StatusCommand>({"status", "--clients", "#a"}).clients, "#a");
  EXPECT_EQ(command<ReloadCommand>({"reload", "--to", "d"}).to, "d");
  EXPECT_THAT(command<CheckCommand>({"check", "a", "b", "--json"}).files,
              testing::ElementsAre("a", "b"));
}

TEST(Arguments, EveryOptionOfBenchIsStored) {
  const auto bench =
      command<BenchCommand>({"bench", "--nodes", "2", "--payload", "100", "--service", "safe",
                             "--rate", "1000", "--seconds", "1.5", "--json"});
  EXPECT_EQ(bench.nodes, 2U);
  EXPECT_EQ(bench.payload_bytes, 100U);
  EXPECT_EQ(bench.service, Service::safe);
  EXPECT_EQ(bench.rate.messages_of(100), 1000);
  EXPECT_EQ(bench.seconds, 1.5);
  EXPECT_TRUE(bench.json);
  const auto shaped =
      command<BenchCommand>({"bench", "--rate", "20mbit", "--link", "1.5gbit", "--loss", "2.5",
                             "--warm-up", "0.5", "--runs", "7", "--order", "ring", "--limit"});
  EXPECT_EQ(shaped.rate.messages_of(1'250), 2'000);
  EXPECT_EQ(shaped.link_bits_per_s, 1.5e9);
  EXPECT_EQ(shaped.loss_percent, 2.5);
  EXPECT_EQ(shaped.order->name, "ring");
  EXPECT_EQ(command<BenchCommand>({"bench", "--order", "paxos"}).order->name, "paxos");
  EXPECT_EQ(command<BenchCommand>({"bench", "--order", "ridge", "--dissemination", "distributors"})
                .options.get(kDissemination),
            0);
  EXPECT_FALSE(shaped.options.get(kEnsembles));
  EXPECT_TRUE(is_rotation(command<BenchCommand>({"bench", "--order", "ridge", "--ensembles", "2",
                                                 "--merge", "rotation"})
                              .options));
  EXPECT_EQ(ensembles_of(
                command<BenchCommand>({"bench", "--order", "ridge", "--ensembles", "16"}).options),
            16);
  EXPECT_TRUE(
      is_optimistic(command<BenchCommand>({"bench", "--order", "ridge", "--optimistic"}).options));
  EXPECT_FALSE(shaped.acceptors);
  EXPECT_EQ(command<BenchCommand>({"bench", "--order", "ridge", "--acceptors", "3"}).acceptors, 3U);
  const auto genuine =
      command<BenchCommand>({"bench", "--order", "ramcast", "--nodes", "5", "--domains", "2",
                             "--outside", "--senders", "last", "--fabric", "tcp", "--poll", "2"});
  EXPECT_EQ(genuine.domains, 2U);
  EXPECT_TRUE(genuine.outside);
  EXPECT_EQ(genuine.senders, BenchSenders::last);
  EXPECT_EQ(genuine.options.get("ramcast.fabric"), 2);
  EXPECT_EQ(genuine.poll, 2U);
  EXPECT_EQ(
      command<UpCommand>({"up", "--order", "ramcast", "--nodes", "6", "--domains", "3"}).domains,
      3U);
  EXPECT_TRUE(shaped.multicast);
  EXPECT_EQ(shaped.place, "/tmp");
  const auto copies = command<BenchCommand>({"bench", "--multicast", "off", "--dir", "/dev/shm"});
  EXPECT_FALSE(copies.multicast);
  EXPECT_EQ(copies.place, "/dev/shm");
  EXPECT_EQ(shaped.warm_up_s, 0.5);
  EXPECT_EQ(shaped.runs, 7U);
  EXPECT_TRUE(shaped.limit);
  EXPECT_TRUE(command<BenchCommand>({"bench", "--rate", "max"}).rate.is_max());
  const auto failover = command<BenchFailoverCommand>(
      {"bench", "failover", "--order", "paxos", "--storage", "memory", "--kills", "3", "--settle",
       "0.5", "--rate", "10mbit", "--dir", "/dev/shm"});
  EXPECT_EQ(failover.kills, 3U);
  EXPECT_EQ(failover.settle_s, 0.5);
  EXPECT_EQ(failover.cluster.order->name, "paxos");
  EXPECT_TRUE(is_in_memory(failover.cluster.options));
  EXPECT_EQ(failover.cluster.rate.payload_bits_per_s, 10e6);
  EXPECT_EQ(failover.cluster.place, "/dev/shm");
  EXPECT_EQ(command<BenchFailoverCommand>({"bench", "failover"}).kills, 20U);
  EXPECT_EQ(command<BenchFailoverCommand>({"bench", "failover"}).cluster.rate.payload_bits_per_s,
            20e6);
  EXPECT_FALSE(shaped.under_way);
  const auto closed = command<BenchCommand>({"bench", "--rate", "max", "--under-way", "64"});
  EXPECT_EQ(closed.under_way, 64U);
  EXPECT_EQ(command<BenchCommand>({"bench", "--under-way", "65536"}).under_way, 65'536U);
  EXPECT_EQ(command<BenchCommand>({"bench", "--loopback", "--plot", "x.png"}).plot, "x.png");
}

TEST(Arguments, EveryServiceIsStoredAndExplained) {
  const std::pair<const char*, Service> services[] = {{"fifo", Service::fifo},
                                                      {"causal", Service::causal},
                                                      {"agreed", Service::agreed},
                                                      {"safe", Service::safe}};
  for (const auto& [word, service] : services) {
    EXPECT_EQ(command<SendCommand>({"send", "--service", word}).service, service);
    EXPECT_EQ(command<BenchCommand>({"bench", "--service", word}).service, service);
    for (const char* name : {"send", "bench"}) {
      const std::string help = parse({name, "--help"}).error().text;
      EXPECT_THAT(help, HasSubstr(std::string(word)));
      EXPECT_THAT(help, testing::ContainsRegex("with the engine[ \n]+toto"));
    }
  }
}

TEST(Arguments, AsManyTargetsAsAMessageMayHave) {
  std::vector<std::string> words = {"send"};
  for (int i = 0; i < 64; ++i) words.push_back("--group=g" + std::to_string(i));
  EXPECT_EQ(command<SendCommand>(words).groups.size(), 64U);
  words.push_back("--group=more");
  const auto parsed = parse(words);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().text, HasSubstr("--group = \"more\": accepted is a group"));
  EXPECT_THAT(parsed.error().text, HasSubstr("up to 64 times"));
}

TEST(Arguments, SimTakesEverythingAsItIs) {
  EXPECT_THAT(command<SimCommand>({"sim", "--help", "--seeds", "1-3"}).arguments,
              testing::ElementsAre("--help", "--seeds", "1-3"));
}

TEST(Arguments, HelpTeachesWithExamples) {
  for (const char* name :
       {"up", "node", "send", "recv", "status", "reload", "check", "bench", "keygen", "version"}) {
    const auto help = parse({name, "--help"});
    ASSERT_FALSE(help) << name;
    EXPECT_EQ(help.error().status, 0);
    EXPECT_THAT(help.error().text, HasSubstr("Examples:"));
    EXPECT_THAT(help.error().text, HasSubstr(std::string("peal ") + name));
    EXPECT_EQ(parse({"help", name}).error().text, help.error().text);
    std::string line;
    for (std::istringstream in(help.error().text); std::getline(in, line);) {
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"help"}, {"--help"}, {"-h"}, {"help", "help"}}) {
    const auto help = parse(words);
    ASSERT_FALSE(help);
    EXPECT_EQ(help.error().status, 0);
    EXPECT_THAT(help.error().text, HasSubstr("Usage: peal COMMAND"));
    EXPECT_THAT(help.error().text, HasSubstr("\n  keygen "));
  }
  for (const char* part : {"limit", "clients", "failover"}) {
    const auto help = parse({"help", "bench", part});
    ASSERT_FALSE(help);
    EXPECT_THAT(help.error().text, HasSubstr(std::string("Usage: peal bench ") + part));
  }
}

struct Bad {
  const char* words;  ///< split at spaces; '' is an empty word
  const char* key;
  const char* value;
  const char* accepted;
};

const Bad kBad[] = {
    {"foo", "command", "\"foo\"", "accepted are up, node, send"},
    {"snd", "command", "\"snd\"", "did you mean send?"},
    {"--nodes 3", "command", "\"--nodes\"", "accepted are up"},
    {"up --nodes 0", "up: --nodes", "\"0\"", "a whole number from 1 to 32"},
    {"up --nodes 33", "--nodes", "\"33\"", "a whole number from 1 to 32"},
    {"up --nodes=33", "--nodes", "\"33\"", "a whole number from 1 to 32"},
    {"up --nodes -3", "--nodes", "\"-3\"", "a whole number from 1 to 32"},
    {"up --nodes=-3", "--nodes", "\"-3\"", "a whole number from 1 to 32"},
    {"up --nodes 3.5", "--nodes", "\"3.5\"", "a whole number from 1 to 32"},
    {"up --nodes three", "--nodes", "\"three\"", "a whole number from 1 to 32"},
    {"up --nodes 99999999999999999999", "--nodes", "\"99999999999999999999\"", "1 to 32"},
    {"up --nodes", "--nodes", "no value", "a whole number from 1 to 32"},
    {"up --nodes ''", "--nodes", "\"\"", "a whole number from 1 to 32"},
    {"up --nodes 3 --nodes 4", "--nodes", "twice", "a whole number from 1 to 32"},
    {"up --nodes --trace", "--nodes", "\"--trace\"", "a whole number from 1 to 32"},
    {"up --node 3", "unknown option", "\"--node\"", "did you mean --nodes?"},
    {"up --bogus", "unknown option", "\"--bogus\"", "accepted are --help, --nodes, --dir"},
    {"up -n 3", "unknown option", "\"-n\"", "accepted are --help, --nodes"},
    {"up --dir", "--dir", "no value", "a path"},
    {"up --dir ''", "--dir", "\"\"", "a path"},
    {"up --order raft", "--order", "\"raft\"", "\"ring\""},
    {"up extra", "up:", "\"extra\" is too much", "accepted are"},
    {"help bench extra", "help:", "\"extra\"", "accepted is one command"},
    {"status --clients alice", "status: --clients", "\"alice\"",
     "the beginning of a name, as '#alice'"},
    {"node", "node: --config", "is missing", "a configuration file"},
    {"node --config", "--config", "no value", "a path"},
    {"daemon", "command", "\"daemon\"", "accepted are up, node"},
    {"node --config f --name A", "--name", "\"A\"", "1 to 32 characters of a-z, 0-9 and -"},
    {"node --config f --name ''", "--name", "\"\"", "1 to 32 characters"},
    {"node --config f --name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "--name", "aaaa", "1 to 32"},
    {"node --config f --conf g", "unknown option", "\"--conf\"", "did you mean --config?"},
    {"node --config f --config g", "--config", "twice", "a path"},
    {"node --print-confg", "unknown option", "\"--print-confg\"", "did you mean --print-config?"},
    {"send --service fast", "send: --service", "\"fast\"", "\"causal\", \"agreed\" or \"safe\""},
    {"send --service", "--service", "no value", "\"fifo\", \"causal\", \"agreed\" or \"safe\""},
    {"send --service Causal", "--service", "\"Causal\"", "\"agreed\" or \"safe\""},
    {"send --to", "--to", "no value", "a path"},
    {"send --form x", "unknown option", "\"--form\"", "accepted are --help, --to, --group"},
    {"send --group", "--group", "no value", "a group, 1 to 128 bytes"},
    {"send --group ##", "send: --group", "\"##\"", "or a private name"},
    {"recv --group #x#n1", "recv: --group", "\"#x#n1\"", "not beginning with '#'"},
    {"recv --group ''", "recv: --group", "\"\"", "1 to 128 bytes"},
    {"recv --name a#b", "recv: --name", "\"a#b\"", "without '#'"},
    {"send --name a --name b", "--name", "twice", "1 to 32 bytes"},
    {"recv --policy normal", "recv: --policy", "\"normal\"", "\"spill\", \"drop\" or"},
    {"recv --policy", "--policy", "no value", "\"block\""},
    {"recv --count 0", "recv: --count", "\"0\"", "1 to 1000000000000000000"},
    {"recv --count -1", "--count", "\"-1\"", "1 to 1000000000000000000"},
    {"recv --count many", "--count", "\"many\"", "1 to 1000000000000000000"},
    {"recv --count 1000000000000000001", "--count", "1000000000000000001", "1 to 10000"},
    {"recv --count", "--count", "no value", "a whole number from 1"},
    {"recv --view", "unknown option", "\"--view\"", "did you mean --views?"},
    {"recv file", "recv:", "\"file\" is too much", "accepted are --help, --to"},
    {"status --wait", "status: --wait", "no value", "members=N (1 to 128) or delivered=N"},
    {"status --wait 3", "--wait", "\"3\"", "members=N (1 to 128) or delivered=N"},
    {"status --wait members", "--wait", "\"members\"", "members=N"},
    {"status --wait members=", "--wait", "\"members=\"", "members=N"},
    {"status --wait members=0", "--wait", "\"members=0\"", "members=N (1 to 128)"},
    {"status --wait members=129", "--wait", "\"members=129\"", "members=N (1 to 128)"},
    {"status --wait members=x", "--wait", "\"members=x\"", "members=N (1 to 128)"},
    {"status --wait delivered=-1", "--wait", "\"delivered=-1\"", "delivered=N"},
    {"status --wait nodes=3", "--wait", "\"nodes=3\"", "members=N (1 to 128)"},
    {"status --timeout -1", "--timeout", "\"-1\"", "a number from 0 to 86400"},
    {"status --timeout 86401", "--timeout", "\"86401\"", "a number from 0 to 86400"},
    {"status --timeout nan", "--timeout", "\"nan\"", "a number from 0 to 86400"},
    {"status --timeout soon", "--timeout", "\"soon\"", "a number from 0 to 86400"},
    {"check", "check: FILE", "is missing", "one or more trace files"},
    {"check --json", "check: FILE", "is missing", "one or more trace files"},
    {"check f --jsn", "unknown option", "\"--jsn\"", "did you mean --json?"},
    {"bench failover --kills 0", "bench failover: --kills", "\"0\"", "1 to 1000"},
    {"bench failover --nodes 2", "--nodes", "\"2\"", "3 to 32"},
    {"bench failover --rate max", "--rate", "\"max\"", "kbit, mbit or gbit"},
    {"bench failover --order ring --storage disk", "bench failover:", "--storage", "leave it out"},
    {"bench --nodes 33", "bench: --nodes", "\"33\"", "1 to 32"},
    {"bench --payload 9", "--payload", "\"9\"", "10 to 1048576"},
    {"bench --payload 1048577", "--payload", "\"1048577\"", "10 to 1048576"},
    {"bench --payload 1k", "--payload", "\"1k\"", "10 to 1048576"},
    {"bench --rate 0", "--rate", "\"0\"", "\"max\", a whole number from 1 to 100000000"},
    {"bench --rate fast", "--rate", "\"fast\"", "\"max\", a whole number from 1"},
    {"bench --rate 1e5", "--rate", "\"1e5\"", "\"max\", a whole number from 1"},
    {"bench --rate 5mbyte", "--rate", "\"5mbyte\"", "kbit, mbit or gbit"},
    {"bench --rate -1mbit", "--rate", "\"-1mbit\"", "kbit, mbit or gbit"},
    {"bench --rate mbit", "--rate", "\"mbit\"", "kbit, mbit or gbit"},
    {"bench --rate nanmbit", "--rate", "\"nanmbit\"", "kbit, mbit or gbit"},
    {"bench --under-way 0", "--under-way", "\"0\"", "a whole number from 1 to 65536"},
    {"bench --under-way 65537", "--under-way", "\"65537\"", "a whole number from 1 to 65536"},
    {"bench --under-way 1.5", "--under-way", "\"1.5\"", "a whole number from 1 to 65536"},
    {"bench --under-way 64 --rate 500", "--under-way = \"64\" does not go with --rate", "leave out",
     "say --rate max"},
    {"bench --under-way 64 --plot x.png", "--plot", "rates itself", "leave out --under-way"},
    {"bench limit --under-way 64", "bench limit", "\"--under-way\"", "accepted are --help"},
    {"bench --order paxos --acceptors 0", "--acceptors", "\"0\"",
     "an odd whole number from 1 to 15"},
    {"bench --order paxos --acceptors 2", "--acceptors", "\"2\"",
     "an odd whole number from 1 to 15"},
    {"bench --order paxos --acceptors 17", "--acceptors", "\"17\"", "an odd whole number from 1"},
    {"bench --order paxos --acceptors 5", "--acceptors = \"5\"", "more than there are nodes",
     "up to --nodes, 3"},
    {"bench --acceptors 3", "--acceptors = \"3\" does not go with --order ring", "leave it out",
     "--order ridge"},
    {"bench --order ramcast --acceptors 3", "--acceptors = \"3\" does not go with --order ramcast",
     "leave it out", "--order paxos or --order ridge"},
    {"bench --order ramcast --storage memory", "--storage does not go with --order ramcast",
     "leave it out", "--order paxos"},
    {"up --order ramcast --domains 0", "--domains", "\"0\"", "a whole number from 1 to 15"},
    {"up --order ramcast --domains 2", "--domains = \"2\" does not divide 3 nodes",
     "accepted is a divisor", "number of nodes"},
    {"up --order ramcast --nodes 16", "--domains = \"1\" makes domains of 16 nodes", "accepted are",
     "up to 15"},
    {"up --domains 3", "--domains does not go with --order ring", "leave it out",
     "--order ramcast"},
    {"up --order paxos --fabric shm", "--fabric does not go with --order paxos", "leave it out",
     "--order ramcast"},
    {"bench --order ramcast --fabric rdma", "--fabric", "\"rdma\"", "\"shm\""},
    {"bench --order ramcast --poll 4", "--poll = \"4\"", "accepted is", "up to --nodes, 3"},
    {"bench --order ramcast --poll 33", "--poll", "\"33\"", "a whole number from 0 to 32"},
    {"bench --poll 1", "--poll does not go with --order ring", "leave it out", "--order ramcast"},
    {"bench --outside", "--outside does not go with --order ring", "leave it out",
     "--order ramcast"},
    {"bench --order ramcast --nodes 1 --outside", "--outside needs two nodes", "accepted is",
     "--nodes from 2"},
    {"bench --order ramcast --poll 1 --daemon", "--daemon does not go with", "--poll",
     "leave out one"},
    {"bench --order ramcast --fabric shm --ramcast slots=8", "--fabric does not go with --ramcast",
     "key fabric", "leave out one"},
    {"bench --senders some", "--senders", "\"some\"", "\"all\", \"first\" or \"last\""},
    {"bench --link 1000", "--link", "\"1000\"", "from 1mbit to 100gbit"},
    {"bench --link 101gbit", "--link", "\"101gbit\"", "from 1mbit to 100gbit"},
    {"bench --loss 51", "--loss", "\"51\"", "a number from 0 to 50"},
    {"bench --multicast no", "--multicast", "\"no\"", "\"auto\" or \"off\""},
    {"bench --runs 0", "--runs", "\"0\"", "a whole number from 1 to 100"},
    {"bench --warm-up 0", "--warm-up", "\"0\"", "a number from 0.1 to 600"},
    {"bench --order raft", "--order", "\"raft\"",
     "\"ring\", \"paxos\", \"ridge\", \"toto\" or \"ramcast\""},
    {"bench --order ridge --dissemination bus", "--dissemination", "\"bus\"",
     "\"distributors\" or \"ring\""},
    {"bench --order paxos --dissemination ring", "--dissemination does not go with --order paxos",
     "leave it out", "--order ridge"},
    {"up --dissemination distributors", "--dissemination does not go with --order ring",
     "leave it out", "--order ridge"},
    {"bench --order ridge --ensembles 0", "--ensembles", "\"0\"", "a whole number from 1 to 16"},
    {"up --order ridge --ensembles 17", "--ensembles", "\"17\"", "a whole number from 1 to 16"},
    {"bench --order paxos --ensembles 2", "--ensembles does not go with --order paxos",
     "leave it out", "--order ridge"},
    {"up --ensembles 1", "--ensembles does not go with --order ring", "leave it out",
     "--order ridge"},
    {"bench --merge keys", "--merge does not go with --order ring", "leave it out",
     "--order ridge"},
    {"up --order ridge --merge rotation", "--merge rotation does not go with one ensemble",
     "leave it out", "--ensembles 2 or more"},
    {"bench --order ridge --ensembles 1 --merge rotation",
     "--merge rotation does not go with one ensemble", "leave it out", "--ensembles 2 or more"},
    {"up --order ridge --ensembles 2 --merge turns", "--merge", "\"turns\"",
     "\"keys\" or \"rotation\""},
    {"bench --optimistic", "--optimistic does not go with --order ring", "leave it out",
     "--order ridge"},
    {"bench --order ridge --ensembles 2 --optimistic",
     "--optimistic does not go with several --ensembles", "which make no guess",
     "leave out one of them"},
    {"bench --order ridge --daemon --optimistic", "--optimistic does not go with --daemon",
     "told nothing early", "leave out one of them"},
    {"bench limit --optimistic", "bench limit", "\"--optimistic\"", "accepted are --help"},
    {"bench limit --ensembles 2", "bench limit", "\"--ensembles\"", "accepted are --help"},
    {"bench --order ridge --data tcp", "--data", "\"tcp\"", "\"datagrams\" or \"streams\""},
    {"bench --data streams", "--data streams does not go with --order ring", "leave it out",
     "--order ridge"},
    {"up --data streams", "--data streams does not go with --order ring", "leave it out",
     "--order ridge"},
    {"bench --order paxos --ring max_gap=500", "--ring", "--order paxos", "leave out one"},
    {"bench limit --service safe", "bench limit", "\"--service\"", "accepted are --help"},
    {"bench --seconds 0", "--seconds", "\"0\"", "a number from 0.1 to 3600"},
    {"bench --seconds 3601", "--seconds", "\"3601\"", "a number from 0.1 to 3600"},
    {"bench --service best", "--service", "\"best\"", "\"agreed\" or \"safe\""},
    {"version extra", "version:", "extra", "accepted are --help"},
    {"--version extra", "version:", "extra", "accepted are --help"},
    {"version --json", "unknown option", "\"--json\"", "accepted are --help"},
    {"help up extra", "help:", "\"extra\"", "accepted is one command"},
    {"--help extra", "--help:", "\"extra\"", "accepted is one command"},
    {"help bogus", "command", "\"bogus\"", "accepted are up"},
    {"bench --worker", "unknown option", "\"--worker\"", "accepted are --help, --nodes"},
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (std::istringstream in(text); in >> word;) words.push_back(word == "''" ? "" : word);
  return words;
}

TEST(Arguments, BadOnesGetOneLineWithKeyValueAndWhatIsAccepted) {
  for (const Bad& bad : kBad) {
    SCOPED_TRACE(bad.words);
    const auto parsed = parse(split(bad.words));
    ASSERT_FALSE(parsed) << "it was accepted";
    EXPECT_EQ(parsed.error().status, 2);
    const std::string& text = parsed.error().text;
    EXPECT_THAT(text, Not(HasSubstr("\n")));
    EXPECT_THAT(text, HasSubstr(bad.key));
    EXPECT_THAT(text, HasSubstr(bad.value));
    EXPECT_THAT(text, HasSubstr(bad.accepted));
  }
}

}  // namespace
}  // namespace peal::cli
