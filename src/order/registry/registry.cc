// SPDX-License-Identifier: Apache-2.0
#include "order/registry/registry.h"

#include "order/paxos/descriptor.h"
#include "order/ramcast/descriptor.h"
#include "order/ridge/descriptor.h"
#include "order/ring/descriptor.h"
#include "order/toto/descriptor.h"

namespace peal::order {

std::span<const Descriptor* const> engines() {
  static constexpr const Descriptor* kEngines[] = {&ring::kDescriptor, &paxos::kDescriptor,
                                                   &ridge::kDescriptor, &toto::kDescriptor,
                                                   &ramcast::kDescriptor};
  return kEngines;
}

}  // namespace peal::order
