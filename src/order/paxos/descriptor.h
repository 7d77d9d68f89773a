// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"
#include "order/paxos/options.h"

namespace peal::order::paxos {

extern const Descriptor kDescriptor;

/// What the engine is made from, for engines that are made from this one.
Config config_of(const Setup& setup);

}  // namespace peal::order::paxos
