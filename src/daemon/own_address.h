// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "config/settings.h"
#include "daemon/node_log.h"
#include "io/endpoint.h"
#include "io/notify.h"
#include "io/stop_signals.h"

namespace peal::daemon {

/// Returns this node's own address. A name is looked up repeatedly, until one of its addresses is
/// an address of this machine. Each new reason for waiting is logged and reported to the service
/// manager. Returns nothing after a signal to stop. Blocks until it has an address, or until the
/// signal comes.
std::optional<io::Endpoint> wait_for_own_address(const config::Settings& settings,
                                                 const io::StopSignals& signals, const NodeLog& log,
                                                 const io::Notifier& notifier);

}  // namespace peal::daemon
