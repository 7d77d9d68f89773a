// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/descriptor.h"

namespace peal::order::sequencer {

/// A fixed sequencer without fault tolerance, in tests only: it shows what an engine needs to be
/// configured, shown, run and judged. The node with the lowest number gives out positions; a member
/// asks for as many as it has units, and multicasts each unit with its position. There is one view,
/// of all configured nodes; once one of them fails, nothing is ordered any more.
extern const Descriptor kDescriptor;

}  // namespace peal::order::sequencer
