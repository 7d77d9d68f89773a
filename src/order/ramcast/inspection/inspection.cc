// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/inspection/inspection.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "order/ramcast/links.h"
#include "order/ramcast/options.h"
#include "wire/frames.h"
#include "wire/ramcast.h"
#include "wire/ramcast_memory.h"

namespace peal::order::ramcast {
namespace {

using wire::Drop;
using wire::RamcastKind;

constexpr PacketName named(RamcastKind kind, std::string_view name, bool carries_units = false) {
  return {static_cast<std::uint8_t>(wire::frame_kind(kind)), name, carries_units};
}

constexpr PacketName kPacketNames[] = {named(RamcastKind::hello, "memory_hello"),
                                       named(RamcastKind::takeover, "takeover"),
                                       named(RamcastKind::state, "member_state"),
                                       named(RamcastKind::nack, "refusal"),
                                       named(RamcastKind::relay, "message_relay", true),
                                       named(RamcastKind::pull, "pull"),
                                       named(RamcastKind::query, "query"),
                                       named(RamcastKind::answer, "answer"),
                                       named(RamcastKind::backlog_request, "backlog_request"),
                                       named(RamcastKind::backlog, "backlog"),
                                       named(RamcastKind::backlog_view, "backlog_view")};

std::string round_text(const wire::Round& round) {
  return std::to_string(round.count) + "@n" + std::to_string(round.coordinator.node.value);
}

std::string message_text(const MemberId& sender, std::uint64_t number) {
  return " n" + std::to_string(sender.node.value) + ":" + std::to_string(number);
}

std::string hello_text(const wire::MemoryHello& hello) {
  std::string text = hello.answer ? " answer" : "";
  if (hello.message != 0) text += " message=" + std::to_string(hello.message);
  return text;
}

std::string takeover_text(const wire::Takeover& takeover) {
  return " round=" + round_text(takeover.round) + " grant=" + std::to_string(takeover.grant);
}

std::string state_text(const wire::MemberState& state) {
  return " round=" + round_text(state.round) + " part=" + std::to_string(state.part + 1) + "/" +
         std::to_string(state.parts) + " records=" + std::to_string(state.records.size());
}

std::string nack_text(const wire::Nack& nack) {
  return " round=" + round_text(nack.round) + " promised=" + round_text(nack.promised);
}

std::string relay_text(const wire::MessageRelay& relay) {
  return message_text(relay.sender, relay.head.number);
}

std::string about_text(const wire::AboutMessage& about) {
  std::string text = message_text(about.message.sender, about.message.number);
  if (about.key != 0) text += " key=" + std::to_string(about.key);
  return text;
}

std::string packet_text(const InspectedPacket& packet) {
  switch (static_cast<RamcastKind>(packet.kind)) {
    case RamcastKind::hello: return text_in(packet, &wire::decode_memory_hello, &hello_text);
    case RamcastKind::takeover: return text_in(packet, &wire::decode_takeover, &takeover_text);
    case RamcastKind::state: return text_in(packet, &wire::decode_member_state, &state_text);
    case RamcastKind::nack: return text_in(packet, &wire::decode_nack, &nack_text);
    case RamcastKind::relay: return text_in(packet, &wire::decode_message_relay, &relay_text);
    case RamcastKind::pull:
    case RamcastKind::query:
    case RamcastKind::answer: return text_in(packet, &wire::decode_about_message, &about_text);
    case RamcastKind::backlog_request:
    case RamcastKind::backlog:
    case RamcastKind::backlog_view: return "";
  }
  return "";
}

void add(const MemberId& sender, std::uint64_t number, std::vector<UnitName>& out) {
  out.push_back({sender, number});
}

/// No unit has this name: whoever judges the bytes reports it.
constexpr UnitName kUnreadable{{}, ~std::uint64_t{0}};

/// What names nothing stays inside a domain: questions of a change of the leader, views, and the
/// connections of nodes of one domain.
void units_of(const InspectedPacket& packet, std::vector<UnitName>& out) {
  switch (static_cast<RamcastKind>(packet.kind)) {
    case RamcastKind::hello: {
      wire::MemoryHello hello;
      if (wire::decode_memory_hello(packet.bytes, hello) != Drop::none) return;
      // The message is one that concerns both nodes, whoever sent it.
      if (hello.message != 0) add({}, hello.message, out);
      return;
    }
    case RamcastKind::relay: {
      wire::MessageRelay relay;
      if (wire::decode_message_relay(packet.bytes, relay) != Drop::none) return;
      return add(relay.sender, relay.head.number, out);
    }
    case RamcastKind::pull:
    case RamcastKind::query:
    case RamcastKind::answer: {
      wire::AboutMessage about;
      if (wire::decode_about_message(packet.bytes, about) != Drop::none) return;
      return add(about.message.sender, about.message.number, out);
    }
    case RamcastKind::state: {
      wire::MemberState state;
      if (wire::decode_member_state(packet.bytes, state) != Drop::none) return;
      for (const wire::StateRecord& each : state.records) add(each.sender, each.head.number, out);
      return;
    }
    case RamcastKind::backlog: {
      wire::Backlog backlog;
      if (wire::decode_backlog(packet.bytes, backlog) != Drop::none) return;
      return add(backlog.message.sender, backlog.message.head.number, out);
    }
    case RamcastKind::takeover:
    case RamcastKind::nack:
    case RamcastKind::backlog_request:
    case RamcastKind::backlog_view: return;
  }
}

void units_of_cells(const InspectedWrite& write, const ClusterShape& cluster,
                    std::vector<UnitName>& out) {
  const auto slots = static_cast<std::uint64_t>(options_of(cluster.options).slots);
  for (std::size_t at = 0; at + wire::kCellBytes <= write.bytes.size(); at += wire::kCellBytes) {
    const wire::NamedMessage message = wire::peek_cell_message(write.bytes.subspan(at));
    if (message.number == 0) continue;
    const std::uint64_t row = (write.offset + at) / wire::kCellBytes / slots;
    add({cluster.nodes[row], message.sender_epoch}, message.number, out);
  }
}

/// Adds a message that is named by its index among the sender's messages to the writer's domain.
void add_by_index(const MemberId& sender, std::uint64_t index, const InspectedWrite& write,
                  const ClusterShape& cluster, std::vector<UnitName>& out) {
  if (index == 0) return;  // none of its messages
  for (std::size_t i = 0; i < cluster.domains.size(); ++i) {
    const std::vector<NodeId>& nodes = cluster.domains[i];
    if (std::find(nodes.begin(), nodes.end(), write.writer.node) == nodes.end()) continue;
    out.push_back({sender, index, static_cast<DomainId>(i + 1)});
    return;
  }
  out.push_back(kUnreadable);  // a node that only sends has no such messages
}

void units_of_replies(const InspectedWrite& write, const ClusterShape& cluster,
                      std::vector<UnitName>& out) {
  std::size_t at = 0;
  if (write.offset == 0) {
    at = wire::kReleaseBytes;
    wire::SenderRelease release;
    const bool whole = write.bytes.size() >= at;
    if (!whole || wire::decode_release(write.bytes.first(at), release) != Drop::none) {
      return out.push_back(kUnreadable);
    }
    add_by_index(write.owner, release.index, write, cluster, out);
  }
  for (; at + wire::kReplyBytes <= write.bytes.size(); at += wire::kReplyBytes) {
    const std::uint64_t number = wire::peek_reply(write.bytes.subspan(at));
    if (number != 0) add(write.owner, number, out);
  }
}

/// A write begins with an entry, or with a pad. It ends behind an entry, or at the end of the
/// region, where what is smaller than any entry is left as it was.
void units_of_log(const InspectedWrite& write, const ClusterShape& cluster,
                  std::vector<UnitName>& out) {
  ByteView left = write.bytes;
  while (left.size() >= wire::kLogFixedBytes) {
    const wire::NamedEntry entry = wire::peek_log_names(left);
    if (entry.bytes == 0 || entry.bytes > left.size()) return out.push_back(kUnreadable);
    switch (entry.kind) {
      case wire::LogKind::base:
      case wire::LogKind::proposal: add(entry.message.sender, entry.message.number, out); break;
      case wire::LogKind::base_sender:
        // Its messages below this index are past.
        add_by_index(entry.message.sender, entry.key - 1, write, cluster, out);
        break;
      case wire::LogKind::pad:
      case wire::LogKind::base_view:
      case wire::LogKind::base_end:
      case wire::LogKind::active:
      case wire::LogKind::view:
      case wire::LogKind::commit: break;
    }
    left = left.subspan(entry.bytes);
  }
}

void units_of_write(const InspectedWrite& write, const ClusterShape& cluster,
                    std::vector<UnitName>& out) {
  switch (static_cast<Area>(write.region)) {
    case Area::messages: return add(write.writer, wire::peek_slot_message(write.bytes).number, out);
    case Area::cells: return units_of_cells(write, cluster, out);
    case Area::replies: return units_of_replies(write, cluster, out);
    case Area::log: return units_of_log(write, cluster, out);
    case Area::control: return;  // it stays inside the domain
  }
}

}  // namespace

constinit const Inspection kInspection{.engine = "ramcast",
                                       .packets = kPacketNames,
                                       .text = &packet_text,
                                       .units = &units_of,
                                       .units_of_write = &units_of_write};

}  // namespace peal::order::ramcast
