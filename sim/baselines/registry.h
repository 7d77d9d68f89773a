// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "order/descriptor.h"
#include "order/inspection/inspection.h"

// The engines that the simulator can run: those of this program, and the baselines, which only the
// simulator has.

namespace peal::sim {

std::span<const order::Descriptor* const> baselines();
std::span<const order::Inspection* const> baseline_inspections();

/// The engine does without links that fail: its seeds have processes that pause or end, and writes
/// that take long.
bool needs_links(const order::Descriptor& engine);

/// The engine with this name, of this program or a baseline; null if there is none.
const order::Descriptor* find_engine(std::string_view name);
/// The inspection of the engine with this name; null if it has none.
const order::Inspection* find_inspection(std::string_view engine);
/// The names of all engines as a text that completes "accepted is …".
std::string engine_names();

}  // namespace peal::sim
