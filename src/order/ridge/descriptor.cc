// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/descriptor.h"

#include "wire/paxos.h"

namespace peal::order::ridge {

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
};

}  // namespace peal::order::ridge
