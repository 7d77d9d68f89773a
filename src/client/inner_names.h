// SPDX-License-Identifier: Apache-2.0
#pragma once

// All headers of rooms that code beside the public headers uses, as they have to come first.
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "io/clock.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/fd.h"
#include "io/fork.h"
#include "io/polling.h"
#include "io/resolve.h"
#include "io/shared_memory.h"
#include "io/stream.h"
#include "io/tls.h"
#include "wire/client.h"

namespace peal::client {

// The public headers (include/peal/types.h) have names of their own for these. Where one of them is
// included, after everything else, these still mean what the rooms mean; the public ones are
// v0::Result and so on.
using peal::Result;
using peal::Service;

}  // namespace peal::client
