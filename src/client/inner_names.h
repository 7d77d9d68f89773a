// SPDX-License-Identifier: Apache-2.0
#pragma once

// Headers of other modules that this module uses together with the public ones; they must come
// first.
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

// The public headers (include/peal/types.h) declare their own Result and Service. Where one of them
// is included, after everything else, the unqualified names in peal::client still mean those of the
// modules; the public ones are v0::Result and v0::Service.
using peal::Result;
using peal::Service;

}  // namespace peal::client
