// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/ids.h"
#include "base/result.h"

namespace peal::cli {

// The public headers (include/peal/types.h) define these names too. Where one of them is included,
// after everything else, the names still mean those of the modules; the public ones are v0::Result
// and so on.
using peal::Result;
using peal::Service;

}  // namespace peal::cli
