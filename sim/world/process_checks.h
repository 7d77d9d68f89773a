// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/judge/history_recorder.h"
#include "sim/world/process.h"

namespace peal::sim {

// Checks of a running process. Violations are reported to the recorder.

/// R1: checks the number of buffers that a node holds.
void check_buffers(const Process& process, HistoryRecorder& recorder);
/// R3: counts a timer call that had no effect. Too many such calls in a second are a violation.
void note_idle_timer(Process& process, HistoryRecorder& recorder);
/// Call when the process ended itself. Reports a violation unless the process's own clock was set
/// back or its own disk failed.
void note_conflict(const Process& process, bool disk_failed, HistoryRecorder& recorder);

}  // namespace peal::sim
