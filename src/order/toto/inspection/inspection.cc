// SPDX-License-Identifier: Apache-2.0
#include "order/toto/inspection/inspection.h"

#include <string>
#include <string_view>

#include "order/toto/commit_record.h"
#include "wire/frames.h"
#include "wire/toto.h"

namespace peal::order::toto {
namespace {

using wire::Drop;
using wire::FrameKind;
using wire::TotoKind;

constexpr PacketName named(FrameKind kind, std::string_view name, bool carries_units = false) {
  return {static_cast<std::uint8_t>(kind), name, carries_units};
}
constexpr PacketName named(TotoKind kind, std::string_view name, bool carries_units = false) {
  return named(wire::frame_kind(kind), name, carries_units);
}

constexpr PacketName kPacketNames[] = {
    named(FrameKind::join, "join"),      named(FrameKind::commit, "commit"),
    named(FrameKind::probe, "probe"),    named(FrameKind::epoch_notice, "epoch_notice"),
    named(TotoKind::node, "node", true), named(TotoKind::lacks, "lacks_nodes"),
    named(TotoKind::status, "status"),   named(TotoKind::pass, "rotation")};

PacketContent content_of(const InspectedPacket& packet) {
  PacketContent content;
  if (packet.kind == static_cast<std::uint8_t>(TotoKind::node)) {
    wire::Node node;
    if (wire::decode_node(packet.bytes, node) != Drop::none) return content;
    content.position = node.seq;
    content.retransmission = node.retransmission;
  } else if (packet.kind == static_cast<std::uint8_t>(FrameKind::commit)) {
    wire::Commit commit;
    if (decode_commit(packet.bytes, commit) != Drop::none) return content;
    content.rotation = commit.hops < commit.members.size() ? 1 : 2;
  }
  return content;
}

std::string node_text(const wire::Node& node) {
  constexpr std::string_view kKinds[] = {"control", "causal", "agreed", "safe"};
  std::string text = " " + std::to_string(node.origin) + ":" + std::to_string(node.seq) + " " +
                     std::string(kKinds[static_cast<std::size_t>(node.kind)]);
  for (const wire::Advance& advance : node.advances) {
    text += " +" + std::to_string(advance.count) + "@" + std::to_string(advance.index);
  }
  text += " decided=" + std::to_string(node.decided);
  if (node.retransmission) text += " again";
  return text;
}

std::string lacks_text(const wire::TotoLacks& lacks) {
  std::string text;
  for (const wire::NodeRange& range : lacks.ranges) {
    text += " " + std::to_string(range.origin) + ":" + std::to_string(range.first);
    if (range.count > 1) text += "+" + std::to_string(range.count - 1);
  }
  return text;
}

std::string status_text(const wire::TotoStatus& status) {
  std::string text = status.full ? " full have=" : " have=";
  for (const Seq seq : status.have) text += std::to_string(seq) + ",";
  return text;
}

std::string pass_text(const wire::TotoPass& pass) {
  return " hop=" + std::to_string(pass.hop) + " run=" + std::to_string(pass.run) +
         " missing=" + std::to_string(pass.missing);
}

std::string packet_text(const InspectedPacket& packet) {
  switch (static_cast<TotoKind>(packet.kind)) {
    case TotoKind::node: return text_in(packet, &wire::decode_node, &node_text);
    case TotoKind::lacks: return text_in(packet, &wire::decode_toto_lacks, &lacks_text);
    case TotoKind::status: return text_in(packet, &wire::decode_toto_status, &status_text);
    case TotoKind::pass: return text_in(packet, &wire::decode_toto_pass, &pass_text);
  }
  return "";
}

}  // namespace

constinit const Inspection kInspection{
    .engine = "toto", .packets = kPacketNames, .content = &content_of, .text = &packet_text};

}  // namespace peal::order::toto
