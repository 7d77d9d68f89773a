// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/descriptor.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "order/paxos/descriptor.h"
#include "order/ridge/engine.h"
#include "wire/paxos.h"

namespace peal::order::ridge {
namespace {

struct Ways {
  Dissemination dissemination = Dissemination::distributors;
  std::uint32_t ensembles = 1;
  Merging merging = Merging::keys;
  bool optimistic = false;
};
constexpr std::string_view kDisseminations[] = {"distributors", "ring"};
constexpr std::string_view kMergings[] = {"keys", "rotation"};
constexpr std::array kWays{
    field<&Ways::dissemination>(
        {.key = "ridge.dissemination",
         .words = kDisseminations,
         .cluster_wide = true,
         .in_status = true,
         .help = "how messages reach all nodes. \"distributors\": along a chain of acceptors, and "
                 "from one of the other nodes in turn. \"ring\": from node to node, to compare "
                 "with: the same throughput, and latency that grows with each node"}),
    field<&Ways::ensembles>(
        {.key = "ridge.ensembles",
         .least = 1,
         .most = kEnsemblesMax,
         .cluster_wide = true,
         .in_status = true,
         .help =
             "how many ensembles order together: each has a coordinator of its own and a part of "
             "the messages, and their orders become one. Several pay off where all nodes send and "
             "one coordinator is the bottleneck. They cost heartbeats and views of each, and a "
             "message "
             "may wait until the other ensembles say that they have nothing before it. The logs in "
             "data_dir are of this number: to change it, stop all nodes and start them with empty "
             "folders"}),
    field<&Ways::merging>(
        {.key = "ridge.merge",
         .words = kMergings,
         .cluster_wide = true,
         .in_status = true,
         .help =
             "how the orders of several ensembles become one. \"keys\": by their senders' clocks. "
             "\"rotation\": one value of each in turn, as Multi-Ring Paxos, to compare with: each "
             "message may wait for a turn of the others, which skip theirs every millisecond, and "
             "an ensemble that orders more than 50,000 values in a second is slowed down to that. "
             "Only "
             "with `ensembles` of 2 or more"}),
    field<&Ways::optimistic>(
        {.key = "ridge.optimistic",
         .cluster_wide = true,
         .help = "with true, applications that embed a member are told of each message before it "
                 "has its place, in the probable order, and then whether that order was right; "
                 "clients of a daemon are not. The network carries each message twice. With one "
                 "ensemble only"}),
};

Ways ways_of(const OptionValues& values) {
  Ways ways;
  read_options<Ways>(values, kWays, ways);
  return ways;
}

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  const Ways ways = ways_of(setup.options);
  paxos::Config config = paxos::config_of(setup);
  config.options.optimistic = config.options.optimistic || ways.optimistic;
  return make_engine(config, packets, host, ways.dissemination,
                     {ways.ensembles, setup.domains, ways.merging});
}

std::span<const Option> options() {
  static const std::vector<Option> kOptions =
      paxos::with_internal({paxos::kAcceptors, paxos::kKept[0].option, kWays[0].option,
                            kWays[1].option, kWays[2].option, kWays[3].option});
  return kOptions;
}

Needs needs(const OptionValues& values, std::size_t nodes) {
  const Ways ways = ways_of(values);
  Needs needs = paxos::needs(values, nodes);
  needs.ensembles = ways.ensembles;
  needs.optimistic = needs.optimistic || ways.optimistic;
  return needs;
}

Result<void, std::string> together(const std::string& one, const std::string& other) {
  return unexpected(one + " does not go with " + other + ": leave one of the two out");
}

Result<void, std::string> check(const OptionValues& values,
                                const std::vector<DomainNodes>& domains) {
  const Ways ways = ways_of(values);
  const std::string ensembles = "ridge.ensembles = " + std::to_string(ways.ensembles);
  const std::string optimistic = "ridge.optimistic = true", memory = "paxos.storage = \"memory\"",
                    domain = "[[domain]]";
  const bool in_memory = paxos::kept_of(values).storage == paxos::Storage::memory;
  if (ways.merging == Merging::rotation && ways.ensembles == 1) {
    return unexpected("ridge.merge = \"rotation\" does not go with " + ensembles +
                      ": leave it out, or set ridge.ensembles = 2 or more");
  }
  // Several ensembles do not support optimistic delivery. With votes in memory, each ensemble would
  // bootstrap its order by itself.
  if (ways.ensembles > 1 && ways.optimistic) return together(optimistic, ensembles);
  if (ways.ensembles > 1 && in_memory) return together(memory, ensembles);
  if (domains.empty()) return {};
  if (ways.ensembles > 1) return together(domain, ensembles);
  if (ways.optimistic) return together(domain, optimistic);
  if (in_memory) return together(domain, memory);
  return {};
}

NodeList part_of_list(const DomainNodes& domain, const NodeList& list) {
  return part_of({.domains = {domain}}, Domain{1}, list);
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ridge",
    .summary = "like paxos, with values along a chain of acceptors and from distributors in turn",
    .traits = {.quorum = true,
               // The largest odd number below the limit of a chain.
               .acceptors_most = wire::kChainMax - 1,
               .streams = true,
               .ensembles = true,
               .equal_packets = true,
               .without_log = "paxos.storage = \"memory\""},
    .unit_packets = "relay",
    .options = &options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
    .default_acceptors = &paxos::default_acceptors,
    .part_of = &part_of_list,
};

}  // namespace peal::order::ridge
