// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"

namespace peal::order::paxos {

extern const Descriptor kDescriptor;

}  // namespace peal::order::paxos
