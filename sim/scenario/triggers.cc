// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/triggers.h"

#include <utility>

namespace peal::sim {

void Triggers::watch(Pattern pattern) {
  watched_ = std::move(pattern);
  seen_ = false;
}

void Triggers::on_send(const Packet& packet, const World& world) {
  occurred([&](const Pattern& pattern) {
    const auto* wanted = std::get_if<PacketPattern>(&pattern);
    return wanted != nullptr && wanted->matches(packet, world);
  });
}

void Triggers::on_event(MemberId node, const order::Event& event) {
  occurred([&](const Pattern& pattern) {
    const auto* wanted = std::get_if<EventPattern>(&pattern);
    return wanted != nullptr && wanted->matches(node, event);
  });
}

template <class Matches>
void Triggers::occurred(Matches matches) {
  if (watched_ && matches(*watched_)) seen_ = true;
  for (Trigger& trigger : triggers_) {
    if (trigger.remaining == 0 || !matches(trigger.pattern)) continue;
    if (--trigger.remaining == 0) fire_(trigger);
  }
}

}  // namespace peal::sim
