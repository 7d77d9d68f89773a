// SPDX-License-Identifier: Apache-2.0
#include "sim/world/process_checks.h"

#include <string>

#include "sim/world/world.h"

namespace peal::sim {
namespace {

/// Maximum number of timer calls without any effect, per second and node.
constexpr std::uint64_t kIdleTimersMax = 20'000;

/// Buffers for packets without units, such as copies of tokens and a commit token.
constexpr std::uint32_t kSlabsBeside = 64;

std::string name_of(const Process& process) {
  return "n" + std::to_string(process.self.node.value);
}

}  // namespace

/// A node keeps packets until all members have them, so the maximum gap bounds the number of
/// packets. The engine states how many buffers a node may hold; a node that holds more has a leak.
void check_buffers(const Process& process, HistoryRecorder& recorder) {
  const std::uint32_t held = process.buffers.held();
  const std::uint32_t most = process.buffers.held_most;
  if (held <= most + kSlabsBeside || recorder.broken()) return;
  recorder.violation(process.world.now(), "R1",
                     name_of(process) + " holds " + std::to_string(held) + " buffers, and " +
                         std::to_string(most) + " are accounted for");
}

/// Detects a deadline that stays in the past: such a deadline would occupy a whole processor.
void note_idle_timer(Process& process, HistoryRecorder& recorder) {
  WorkCounts& work = process.work;
  const Instant now = process.world.now();
  ++work.idle_timer_calls;
  if (now - work.idle_from >= seconds(1)) {
    work.idle_from = now;
    work.idle_in_second = 0;
  }
  if (++work.idle_in_second != kIdleTimersMax) return;
  recorder.violation(now, "R3",
                     name_of(process) + ": " + std::to_string(kIdleTimersMax) +
                         " timer calls without any effect in a second");
}

void note_conflict(const Process& process, bool disk_failed, HistoryRecorder& recorder) {
  const Instant now = process.world.now();
  recorder.faults().add(disk_failed ? Fault::disk_failed : Fault::identity_conflict);
  recorder.crashed(now, process.self);
  if (disk_failed || process.set_back) return;
  recorder.violation(now, "fatal", name_of(process) + ": " + process.status.fatal_reason);
}

}  // namespace peal::sim
