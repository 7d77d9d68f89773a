// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Writes the end of a scenario, after the cluster has recovered. First, very old packets arrive.
// Then some faults stay, and the other nodes must continue. Each part has its own random generator,
// so that earlier parts of the scenario do not depend on later parts.

namespace peal::sim {
namespace {

constexpr double kShareOfStories = 0.25;
constexpr double kShareWithLateDuplicates = 0.06;

}  // namespace

/// Minutes pass, and nodes drop temporary state. Then old packets of the whole scenario arrive
/// again, first without a load and then while all nodes send.
void ScenarioGenerator::write_late_duplicates() {
  if (!options_.faults) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x75);
  if (!own.chance(kShareWithLateDuplicates)) return;
  // Servers that write into each other's memory do so every few milliseconds: minutes of this take
  // the simulator as long.
  const std::int64_t seconds = own.between(60, 300) / (options_.engine.is_genuine() ? 10 : 1);
  script_.add("run " + std::to_string(seconds) + "s");
  const auto replay = [&] {
    // Draw in separate statements, because compilers differ in their order of evaluation.
    const std::string delay = std::to_string(own.between(1, 500));
    const std::string count = std::to_string(own.between(20, 300));
    script_.add("replay-old count=" + count + " delay=0-" + delay + "ms");
  };
  replay();
  script_.add("load rate=" + std::to_string(own.between(20, 500)));
  script_.add("run " + std::to_string(own.between(10, 600)) + "ms");
  replay();
  script_.add("settle quick");
}

void ScenarioGenerator::write_lasting() {
  if (!options_.faults || nodes_ < 2) return;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x6e);
  if (!own.chance(kShareOfStories)) return;
  const std::vector<NodeId> nodes = lists_.last_of(nodes_);
  if (nodes.size() < 2) return;
  const std::string rate = decimal(static_cast<double>(own.between(20, 300)));
  script_.add("load rate=" + rate +
              " size=0-60 large=0.05 large-size=500-4000 nodes=" + nodes_text(nodes));
  const std::uint64_t faults = own.chance(0.6) ? 1 : own.chance(0.7) ? 2 : 3;
  for (std::uint64_t i = 0; i < faults; ++i) {
    for (const std::string& line : lasting_fault(own, nodes)) script_.add(line);
  }
  script_.add("expect headway");
  script_.add("settle quick");
}

std::vector<std::string> ScenarioGenerator::lasting_fault(Random& own,
                                                          const std::vector<NodeId>& nodes) {
  const auto some_node = [&] { return nodes[own.below(nodes.size())]; };
  const NodeId a = some_node();
  NodeId b = some_node();
  while (b == a) b = some_node();
  const std::string name = nodes_text({a});
  const auto link = [&](const std::string& condition) {
    const std::string other = nodes_text({b});
    const std::string ends = own.chance(0.5) ? name + " > " + other : name + " with " + other;
    return std::vector<std::string>{"link " + ends + " " + calm_ + " " + condition};
  };
  switch (own.below(options_.engine.has_acceptors() ? 10 : 9)) {
    case 0: return {"cut " + name + " > " + nodes_text({b})};
    case 1: return link("loss=" + decimal(0.3 + 0.6 * own.unit()));
    case 2: return link("dead-lane=data");
    case 3: return link("dead-lane=control");
    case 4: {
      const std::int64_t largest = drawn_.packet_bytes_max();
      return link("dead-above=" + std::to_string(own.between(150, largest - 50)));
    }
    case 5: return {"deaf " + name};
    case 6: return {"mute " + name};
    case 7: return {"application " + name + " room=0"};
    case 8: return {"clock " + name + " rate=1.2"};
    default: break;
  }
  // A hang of at most 5 s ends before E13 is judged, so that the blocked work continues.
  const std::int64_t length = own.between(1, 60);
  const std::string hangs = "disk " + name + " hangs";
  if (length > 5) return {hangs};
  const std::string time = std::to_string(length) + "s";
  return {hangs + " " + time, "run " + time};
}

}  // namespace peal::sim
