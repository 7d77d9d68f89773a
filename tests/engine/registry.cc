// SPDX-License-Identifier: Apache-2.0
#include "order/registry/registry.h"

#include "order/paxos/descriptor.h"
#include "order/ridge/descriptor.h"
#include "order/ring/descriptor.h"
#include "sequencer.h"

// The engines of these tests. This file replaces order/registry/registry.cc.

namespace peal::order {

std::span<const Descriptor* const> engines() {
  static constexpr const Descriptor* kEngines[] = {&ring::kDescriptor, &paxos::kDescriptor,
                                                   &ridge::kDescriptor, &sequencer::kDescriptor};
  return kEngines;
}

}  // namespace peal::order
