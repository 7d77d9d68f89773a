// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/inspection/inspection.h"

namespace peal::order::ramcast {

extern const Inspection kInspection;

}  // namespace peal::order::ramcast
