// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "sim/judge/history_recorder.h"
#include "sim/netmodel/run.h"
#include "sim/world/options.h"

// The cluster of an experiment: the options of its engine, its world and its recorder.

namespace peal::sim {

/// The engine with all options as the experiment sets them.
EngineOptions engine_of(const NetRunOptions& options);
WorldOptions world_of(const NetRunOptions& options);
HistoryRecorder::Options recorder_of(const NetRunOptions& options);

/// The domain in which a node sends; the empty set without domains.
DomainSet domain_of(const NetRunOptions& options, NodeId node);
/// The number of messages that fill `packets` packets.
std::uint64_t messages_in(const NetRunOptions& options, std::uint64_t packets);
/// Whether nodes without messages of their own acknowledge those of others. If not, messages get
/// their places only while more messages come.
bool acknowledges(const NetRunOptions& options);

}  // namespace peal::sim
