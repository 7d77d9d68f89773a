// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.h"
#include "base/result.h"

namespace peal::client {

// The public headers (include/peal/types.h) have names of their own for these. Where one of them is
// included, after everything else, these still mean what the rooms mean; the public ones are
// v0::Result and so on.
using peal::Result;
using peal::Service;

}  // namespace peal::client
