// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

namespace peal::order::wait {

inline constexpr WaitKind ensemble{
    "ensemble", "an ensemble with nothing to order to say so, before position {seq}"};

}  // namespace peal::order::wait
