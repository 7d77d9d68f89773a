// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "session/sessions.h"

namespace peal::cli {

/// The status of a node, and what its clients do: JSON. `node` is what status_json() made.
std::string daemon_status_json(const std::string& node, const session::Status& clients);

}  // namespace peal::cli
