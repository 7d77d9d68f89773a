// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"

namespace peal::order::sequencer {

/// A fixed sequencer without fault tolerance, for tests only. It shows what an engine needs so that
/// Peal can configure, show, run and check it. The node with the lowest number grants positions. A
/// member requests one position for each unit, and multicasts the unit with its position. All
/// configured nodes form the only view. Once a node fails, the engine orders nothing any more.
extern const Descriptor kDescriptor;

}  // namespace peal::order::sequencer
