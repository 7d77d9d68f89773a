// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "order/inspection/inspection.h"

namespace peal::order {

/// The inspections of the engines of this program. A test may link its own list instead of
/// inspections.cc.
std::span<const Inspection* const> inspections();

/// The inspection of the engine with this name; null if it has none.
const Inspection* find_inspection(std::string_view engine);

}  // namespace peal::order
