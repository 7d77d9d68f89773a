// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"
#include "order/inspection/inspection.h"

namespace peal::sim::genuine::literal {

extern const order::Descriptor kDescriptor;
extern const order::Inspection kInspection;

}  // namespace peal::sim::genuine::literal
