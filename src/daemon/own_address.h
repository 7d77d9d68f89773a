// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "config/settings.h"
#include "daemon/node_log.h"
#include "io/endpoint.h"
#include "io/notify.h"
#include "io/stop_signals.h"

namespace peal::daemon {

/// This node's own address. A name is looked up until it is found and is an address of this
/// machine. What it waits for is logged and told to the service manager, once for each reason.
/// Nothing if a signal to stop came. Blocks: until then.
std::optional<io::Endpoint> wait_for_own_address(const config::Settings& settings,
                                                 const io::StopSignals& signals, const NodeLog& log,
                                                 const io::Notifier& notifier);

}  // namespace peal::daemon
