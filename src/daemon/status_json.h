// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "daemon/status.h"

namespace peal::daemon {

/// A status as one line of JSON: the answer to the query `status` (docs/daemon.md).
std::string status_json(const Status& status);

}  // namespace peal::daemon
