// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"

namespace peal::order::ramcast {

extern const Descriptor kDescriptor;

}  // namespace peal::order::ramcast
