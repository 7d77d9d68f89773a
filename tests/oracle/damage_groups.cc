// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "random_groups.h"

namespace peal::oracle::test {
namespace {

void erase_any(std::vector<ClientId>& clients, Random& random) {
  if (clients.empty()) return;
  clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(random.below(clients.size())));
}

void damage_view(GroupView& view, Random& random) {
  switch (random.below(7)) {
    case 0: view.id.index += 1; return;
    case 1: view.id.index -= 1; return;
    case 2: view.cause = static_cast<GroupCause>(random.below(4)); return;
    case 3: std::reverse(view.members.begin(), view.members.end()); return;
    case 4: erase_any(view.members, random); return;
    case 5: view.together = view.members; return;
    default: erase_any(view.together, random); return;
  }
}

void damage_table(std::vector<GroupTableEntry>& entries, Random& random) {
  if (entries.empty()) return;
  GroupTableEntry& entry = entries[random.below(entries.size())];
  switch (random.below(3)) {
    case 0: entry.id.index += 1; return;
    case 1: erase_any(entry.members, random); return;
    default: std::swap(entry, entries.back()); return entries.pop_back();
  }
}

void damage_content(GroupEvent& event, Random& random) {
  switch (event.verb) {
    case GroupVerb::view: return damage_view(event.view, random);
    case GroupVerb::table: return damage_table(event.entries, random);
    case GroupVerb::transitional:
    case GroupVerb::left:
    case GroupVerb::gap: event.group = "e"; return;
    case GroupVerb::order: event.client.node.node.value ^= 1; return;
    case GroupVerb::enter:
    case GroupVerb::reach:
    case GroupVerb::exchange: event.in.number += 1; return;
    case GroupVerb::send:
    case GroupVerb::deliver:
      if (random.below(2) == 0) event.groups[0] = "e";
      event.hash += random.below(2);
      return;
    default: event.client.connection += 1; return;
  }
}

}  // namespace

void damage_groups(std::vector<GroupEvent>& events, Random& random) {
  if (events.empty()) return;
  const auto place = [&] {
    return events.begin() + static_cast<std::ptrdiff_t>(random.below(events.size()));
  };
  const auto chosen = place();
  const GroupEvent event = *chosen;
  switch (random.below(5)) {
    case 0: events.erase(chosen); return;
    case 1: events.insert(place(), event); return;
    case 2:
      events.erase(chosen);
      events.insert(events.empty() ? events.end() : place(), event);
      return;
    case 3: chosen->client = place()->client; return;
    default: return damage_content(*chosen, random);
  }
}

}  // namespace peal::oracle::test
