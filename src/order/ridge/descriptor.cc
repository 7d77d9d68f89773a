// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/descriptor.h"

#include <array>

#include "order/paxos/descriptor.h"
#include "order/ridge/engine.h"
#include "wire/paxos.h"

namespace peal::order::ridge {
namespace {

struct Ways {
  Dissemination dissemination = Dissemination::distributors;
  Merging merging = Merging::keys;
  std::uint32_t ensembles = 1;
};
constexpr std::string_view kDisseminations[] = {"distributors", "ring"};
constexpr std::string_view kMergings[] = {"keys", "rotation"};
constexpr std::array kWays{
    field<&Ways::dissemination>({.key = "ridge.dissemination", .words = kDisseminations}),
    field<&Ways::merging>({.key = "ridge.merge", .words = kMergings}),
    field<&Ways::ensembles>({.key = "ridge.ensembles", .least = 1, .most = kEnsemblesMax}),
};

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  Ways ways;
  read_options<Ways>(setup.options, kWays, ways);
  return make_engine(paxos::config_of(setup), packets, host, ways.dissemination,
                     {ways.ensembles, setup.domains, ways.merging});
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "ridge",
    .summary = "like paxos, with values along a chain of acceptors and from distributors in turn",
    .traits = {.quorum = true,
               // An odd number of them makes a chain.
               .acceptors_most = wire::kChainMax - 1,
               .streams = true,
               .ensembles = true,
               .values_in_packets = true},
    .unit_packets = "relay",
    .make = &make,
};

}  // namespace peal::order::ridge
