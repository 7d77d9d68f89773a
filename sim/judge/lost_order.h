// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/world/world.h"

namespace peal::sim {

/// True if the cluster cannot recover because votes in memory or on a disk are lost, so that the
/// operator must restart all nodes.
bool order_is_lost(World& world);

}  // namespace peal::sim
