// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/descriptor.h"

namespace peal::order::paxos {

constinit const Descriptor kDescriptor{
    .name = "paxos",
    .summary = "a majority of acceptors with durable logs orders; one side of a partition goes on",
    .traits = {.quorum = true, .streams = true, .values_in_packets = true},
    .unit_packets = "propose",
};

}  // namespace peal::order::paxos
