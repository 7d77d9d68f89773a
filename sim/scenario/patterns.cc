// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/patterns.h"

#include <algorithm>
#include <span>
#include <string>

namespace peal::sim {
namespace {

bool among(const std::vector<NodeId>& nodes, NodeId node) {
  return nodes.empty() || std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// The event with this name; null if no engine has it.
const order::EventKind* event_of_name(std::string_view name) {
  const auto in = [name](std::span<const order::EventKind* const> kinds) {
    const auto at = std::find_if(kinds.begin(), kinds.end(), [name](const order::EventKind* each) {
      return each->name == name;
    });
    return at == kinds.end() ? nullptr : *at;
  };
  if (const order::EventKind* known = in(order::event::shared())) return known;
  for (const order::Descriptor* engine : order::engines()) {
    if (const order::EventKind* known = in(engine->events)) return known;
  }
  return nullptr;
}

}  // namespace

bool PacketPattern::matches(const Packet& packet, const World& world) const {
  if (kind && *kind != packet.kind) return false;
  if (!among(from, packet.from)) return false;
  if (!to.empty() && (packet.to.value == 0 || !among(to, packet.to))) return false;
  if (recovering && !world.machines().anyone_recovers()) return false;
  if (!seq && !view && !phase) return true;
  const order::PacketContent content = content_of(packet);
  return (!seq || content.position == seq) && (!view || content.proposes_view) &&
         (!phase || content.rotation == phase);
}

bool EventPattern::matches(MemberId node, const order::Event& event) const {
  return event.kind == kind && among(nodes, node.node);
}

std::optional<PacketKind> read_packet_kind(Tokenizer& words, std::string_view key) {
  const std::optional<std::string> name = words.value(key);
  if (!name) return std::nullopt;
  const std::optional<PacketKind> kind = packet_kind_of_name(*name);
  if (!kind) {
    words.fail("'" + *name + "' is no kind of packet: " + packet_kinds_text());
  }
  return kind;
}

PacketPattern read_packet_pattern(Tokenizer& words) {
  PacketPattern pattern;
  if (words.peek().find('=') != std::string_view::npos) {
    // Read only the keys of the pattern: the command of an `on` line parses its own keys later.
    Tokenizer keys(words.take("a packet"), 0);
    keys.take_keys();
    pattern.kind = read_packet_kind(keys, "kind");
    if (keys.failed()) words.fail(keys.problem());
    if (!keys.finish()) words.fail("the first key must be kind=");
  }
  while (!words.failed()) {
    if (words.accept("from")) {
      pattern.from = words.nodes();
    } else if (words.accept("to")) {
      pattern.to = words.nodes();
    } else if (words.accept("phase")) {
      pattern.phase = static_cast<std::uint32_t>(words.number(1, 2));
    } else if (words.accept("seq")) {
      pattern.seq = words.number(1, ~0ULL);
    } else if (words.accept("recovering")) {
      pattern.recovering = true;
    } else if (words.accept("view")) {
      pattern.view = true;
    } else {
      break;
    }
  }
  return pattern;
}

EventPattern read_event_pattern(Tokenizer& words) {
  EventPattern pattern;
  pattern.nodes = words.nodes();
  const std::string name = words.take("an event");
  pattern.kind = event_of_name(name);
  if (pattern.kind == nullptr) {
    words.fail("'" + name + "' is no event; src/order/vocabulary.h lists them, e.g. paused");
    pattern.kind = &order::event::paused;
  }
  return pattern;
}

}  // namespace peal::sim
