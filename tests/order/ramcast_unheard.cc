// SPDX-License-Identifier: Apache-2.0
#include "ramcast_unheard.h"

#include "ramcast_world.h"

namespace peal::order::ramcast::test {

UnheardEnd unheard_leaders(const UnheardScenario& story) {
  constexpr std::uint32_t kServers = 3, kSenders = 3;
  Shape shape{.domains = {kServers}, .outsiders = kSenders};
  shape.fabric.lazy_revocation = story.lazy_revocation;
  shape.fabric.early_ok = story.early_ok;
  shape.fabric.slow = 0.9;  // many writes are under way when the right to write ends
  shape.fabric.slow_most = microseconds(300);
  shape.options.fast = story.fast;
  shape.options.beat = microseconds(500);
  shape.options.suspect = story.suspect;
  const auto world = settled(shape);
  for (int i = 0; i < 6 && world->broken().empty(); ++i) {
    const std::uint32_t leader = *world->leader(1);
    for (std::uint32_t other = 0; other < kServers; ++other) {
      if (other == leader) continue;
      world->cut(leader, other, Area::control);
    }
    const Instant limit = world->now() + milliseconds(200);
    while (world->leader(1).value_or(leader) == leader && world->now() < limit) {
      for (std::uint32_t sender = kServers; sender < world->nodes(); ++sender) {
        if (world->backlog(sender) < 3) world->submit(sender, 1, 60);
      }
      world->run(microseconds(10));
    }
    world->run(microseconds(story.offset));
    world->heal_all();
    if (!world->run_until([&] { return world->is_settled(); }, seconds(2))) {
      return {world->broken(), "not settled"};
    }
  }
  const bool quiet = world->run_until([&] { return world->is_quiet(); }, seconds(5));
  return {world->broken(), quiet ? "" : "not quiet"};
}

}  // namespace peal::order::ramcast::test
