// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "order/descriptor.h"

namespace peal::order {

/// All engines of this program, the default first. A test may link a list of its own in the place
/// of registry.cc.
std::span<const Descriptor* const> engines();

/// The engine with this name; null if there is none.
const Descriptor* find_engine(std::string_view name);
/// Sets the target to that engine; false, and it stays as it was, if there is none.
bool take_engine(std::string_view name, const Descriptor*& target);
/// The one that orders unless the configuration names another.
const Descriptor& default_engine();
/// Their names, to complete "accepted is …": "ring", "paxos" or "ridge".
std::string engine_names();

}  // namespace peal::order
