// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/disk_faults.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/scenario/tokenizer.h"

namespace peal::sim {

DiskFaults::DiskFaults(std::uint64_t seed, const SwarmOptions& options, std::uint64_t nodes,
                       std::size_t acceptors, const ListChange& lists)
    : seed_(seed), options_(options), nodes_(nodes), acceptors_(acceptors), lists_(lists) {}

void DiskFaults::plan_lost(Timeline& timeline, Duration length) {
  constexpr double kShareThatLose = 0.3;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6f);
  const std::optional<NodeId> victim = some_disk(own, kShareThatLose);
  if (!victim) return;
  loses_ = true;
  const std::string name = nodes_text({*victim});
  const Duration when{own.between(0, length.ns)};
  timeline.at(when, "crash " + name);
  timeline.at(when, "disk " + name + " lost");
  timeline.at(when + milliseconds(own.between(1, 500)), "start " + name);
}

void DiskFaults::plan_damaged(Timeline& timeline, Duration length) {
  constexpr double kShareDamaged = 0.15;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x77);
  const std::optional<NodeId> victim = some_disk(own, kShareDamaged);
  if (loses_ || !victim) return;
  damages_ = true;
  const std::string name = nodes_text({*victim});
  Duration when{own.between(0, length.ns)};
  const auto later = [&](std::int64_t low, std::int64_t high) {
    return when = when + milliseconds(own.between(low, high));
  };
  const std::uint64_t what = own.below(4);
  if (what == 3) {
    timeline.at(when, "disk " + name + " full");
    timeline.at(later(1, 800), "start " + name);
    timeline.at(when, "disk " + name + " mended");
    timeline.at(later(1, 300), "start " + name);
    return;
  }
  timeline.at(when, "crash " + name);
  const std::uint32_t other = 1 + victim->value % static_cast<std::uint32_t>(nodes_);
  timeline.at(when, "disk " + name +
                        (what == 0   ? " rots"
                         : what == 1 ? " stray"
                                     : " of " + nodes_text({NodeId{other}})));
  timeline.at(later(1, 500), "start " + name);
  timeline.at(later(1, 500), "start " + name);
}

void DiskFaults::write_put_back(Script& script) const {
  constexpr double kShareThatPutBack = 0.2;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x70);
  if (!own.chance(kShareThatPutBack)) return;
  const std::vector<NodeId> nodes = lists_.last_of(nodes_);
  const NodeId victim = nodes[own.below(std::min<std::size_t>(nodes.size(), 5))];
  if (!may_lose(victim)) return;
  const std::string name = nodes_text({victim});
  script.add("load rate=" + std::to_string(own.between(10, 500)) + " nodes=" + nodes_text(nodes));
  script.add("disk " + name + " copied");
  script.add("run " + std::to_string(own.between(1, 2'000)) + "ms");
  for (std::int64_t again = own.between(1, 2); again > 0; --again) {
    script.add("crash " + name);
    script.add("disk " + name + " put-back");
    script.add("run " + std::to_string(own.between(1, 800)) + "ms");
    script.add("start " + name);
    script.add("run " + std::to_string(own.between(1, 2'000)) + "ms");
  }
  script.add("crash " + name);
  script.add("disk " + name + " lost");
  script.add("start " + name);
  script.add("settle quick");
}

/// True if `victim` may lose its disk. The scenario must have faults, votes on disk, no domains and
/// at least three nodes. In every list of the scenario, a majority of the acceptors must keep their
/// votes. A node that is removed for good counts as lost too, because it may stop before the
/// removal is decided.
bool DiskFaults::may_lose(NodeId victim) const {
  const bool on_disk = options_.engine.has_logs();
  if (!options_.faults || !on_disk || options_.domains > 0 || nodes_ < 3) return false;
  const std::vector<NodeId> last = lists_.last_of(nodes_);
  const auto enough = [&](const std::vector<NodeId>& list) {
    std::vector<NodeId> acceptors = options_.engine.engine().default_acceptors(list);
    if (acceptors_ != 0) {
      acceptors.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(
                                                        std::min(acceptors_, list.size())));
    }
    const auto left = std::count_if(acceptors.begin(), acceptors.end(), [&](NodeId node) {
      return node != victim && std::binary_search(last.begin(), last.end(), node);
    });
    return 2 * static_cast<std::size_t>(left) > acceptors.size();
  };
  return enough(last) && (lists_.before().empty() || enough(lists_.before())) &&
         (lists_.between().empty() || enough(lists_.between()));
}

/// With probability `share`, draws a node, and returns the node if it may lose its disk. Otherwise
/// returns nullopt.
std::optional<NodeId> DiskFaults::some_disk(Random& own, double share) const {
  if (!own.chance(share)) return std::nullopt;
  const auto most = std::min<std::uint64_t>(nodes_, 5);
  const NodeId victim{1 + static_cast<std::uint32_t>(own.below(most))};
  return may_lose(victim) ? std::optional(victim) : std::nullopt;
}

}  // namespace peal::sim
