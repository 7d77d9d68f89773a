// SPDX-License-Identifier: Apache-2.0
#include "sim/world/loads.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace peal::sim {

Loads::Loads(const WorldOptions& options, Schedule& schedule)
    : schedule_(schedule), random_(seed_for(options, 3)), payloads_(options.nodes + 1) {}

void Loads::add(const Load& load) {
  PEAL_ASSERT(load.rate > 0 && !load.nodes.empty());
  loads_.push_back(load);
  schedule_.push(schedule_.now(), Happening::load, 0,
                 static_cast<std::uint32_t>(loads_.size() - 1));
}

void Loads::stop() {
  for (Load& load : loads_) load.until = Instant{};
}

std::string Loads::payload(NodeId node, std::size_t bytes) {
  const std::uint64_t stamp = ++payloads_[node.value];
  std::string payload(bytes, '\0');
  Random fill(stamp * 256 + node.value);
  std::size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t word = fill.next();
    std::memcpy(payload.data() + at, &word, 8);
  }
  for (; at < bytes; ++at) payload[at] = static_cast<char>(fill.next());
  return payload;
}

Service Loads::draw_service(const Load& load) {
  if (random_.chance(load.safe)) return Service::safe;
  // Without a share there is no draw: scenarios of engines without causal units stay the same.
  if (load.causal <= 0 || !random_.chance(load.causal)) return Service::agreed;
  return random_.chance(0.5) ? Service::causal : Service::fifo;
}

void Loads::run(std::uint32_t index, const Submit& submit) {
  const Load load = loads_[index];
  if (schedule_.now() >= load.until) return;
  const NodeId node = load.nodes[random_.below(load.nodes.size())];
  const std::uint64_t burst = 1 + random_.below(load.burst);
  for (std::uint64_t i = 0; i < burst; ++i) {
    const bool large = load.large > 0 && random_.chance(load.large);
    const auto size =
        static_cast<std::size_t>(large ? random_.between(load.large_low, load.large_high)
                                       : random_.between(load.size_low, load.size_high));
    const Service service = draw_service(load);
    submit(node, service, payload(node, size));
  }
  const double mean_ns = 1e9 * (1.0 + static_cast<double>(load.burst - 1) / 2) /
                         (load.rate * static_cast<double>(load.nodes.size()));
  const auto wait = static_cast<std::int64_t>(-std::log1p(-random_.unit()) * mean_ns) + 1;
  schedule_.push(schedule_.now() + Duration{wait}, Happening::load, 0, index);
}

}  // namespace peal::sim
