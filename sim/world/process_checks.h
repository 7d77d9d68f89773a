// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/judge/history_recorder.h"
#include "sim/world/process.h"

namespace peal::sim {

// Demands on a running process. What violates one goes to the recorder.

/// R1: a node's buffers are accounted for.
void check_buffers(const Process& process, HistoryRecorder& recorder);
/// R3: counts a timer call that had no effect.
void note_idle_timer(Process& process, HistoryRecorder& recorder);
/// The process ended itself. Only its own clock, set back, or its own disk may cause this.
void note_conflict(const Process& process, bool disk_failed, HistoryRecorder& recorder);

}  // namespace peal::sim
