// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/marks.h"

#include <algorithm>

namespace peal::sim {

void Marks::begin(std::uint32_t nodes) {
  for (auto& counts : packets_from_) counts.assign(nodes + 1, 0);
  marks_.resize(nodes + 1);
}

void Marks::set(const World& world) {
  for (auto& counts : packets_from_) std::fill(counts.begin(), counts.end(), 0);
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    const Process* process = world.process(NodeId{n});
    Mark& mark = marks_[n];
    mark = Mark{};
    if (process == nullptr) continue;
    mark.incarnation = process->incarnation;
    mark.views = process->status.views;
    mark.events = process->work.events_seen;
    for (const order::Counter& counter : process->counters()) {
      mark.counters.push_back(counter.value);
    }
  }
}

void Marks::on_send(const Packet& packet) {
  ++packets_from_[static_cast<std::size_t>(packet.kind)][packet.from.value];
}

const Marks::Mark* Marks::of(const Process& process) const {
  const Mark& mark = marks_[process.self.node.value];
  return mark.incarnation == process.incarnation ? &mark : nullptr;
}

std::uint64_t Marks::views_since(const Process& process) const {
  const Mark* mark = of(process);
  return process.status.views - (mark != nullptr ? mark->views : 0);
}

std::uint64_t Marks::events_since(const Process& process, const order::EventKind* kind) const {
  const auto seen = [kind](const auto& events) {
    const auto at = events.find(kind);
    return at == events.end() ? 0 : at->second;
  };
  const Mark* mark = of(process);
  return seen(process.work.events_seen) - (mark != nullptr ? seen(mark->events) : 0);
}

std::optional<std::uint64_t> Marks::counter_since(const Process& process,
                                                  std::string_view name) const {
  const Mark* mark = of(process);
  const auto counters = process.counters();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters[i].name != name) continue;
    return counters[i].value - (mark != nullptr ? mark->counters[i] : 0);
  }
  return std::nullopt;
}

std::uint64_t Marks::packets_since(PacketKind kind, const std::vector<NodeId>& from) const {
  const auto& counts = packets_from_[static_cast<std::size_t>(kind)];
  std::uint64_t sum = 0;
  for (std::uint32_t n = 1; n < counts.size(); ++n) {
    const bool counted =
        from.empty() || std::find(from.begin(), from.end(), NodeId{n}) != from.end();
    if (counted) sum += counts[n];
  }
  return sum;
}

bool Marks::view_kept(NodeId node, const World& world) const {
  const Process* process = world.process(node);
  if (process == nullptr) return marks_[node.value].incarnation == 0;
  const Mark* mark = of(*process);
  return mark != nullptr && process->status.views == mark->views && process->status.operational;
}

}  // namespace peal::sim
