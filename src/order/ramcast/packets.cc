// SPDX-License-Identifier: Apache-2.0
// Packets: which are taken, and what follows from each.
#include "base/assert.h"
#include "order/ramcast/engine.h"

namespace peal::order::ramcast {

void RamcastEngine::on_packet(Instant now, Lane /*lane*/, const BufferRef& packet, Effects& out) {
  if (left_) return;
  wire::Header header;
  const wire::Drop drop = wire::decode_header(packet.view(), header, parts_.checksum);
  if (drop == wire::Drop::bad_version) links_.refuse({}, drop, state_.view().id, out);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  if (header.cluster != parts_.cluster) {
    const wire::Drop reason = wire::drop_of_cluster(header.cluster, parts_.cluster);
    links_.refuse(header.sender, reason, state_.view().id, out);
    return parts_.drop(reason);
  }
  if (!wire::is_ramcast_kind(header.kind)) return parts_.drop(wire::Drop::unknown_kind);
  if (header.sender.node == self_.node) {
    return parts_.drop(header.sender == self_ ? wire::Drop::own : wire::Drop::bad_sender);
  }
  const auto node = layout_.index_of(header.sender.node);
  if (!node) return parts_.drop(wire::Drop::bad_sender);
  if (header.sender.epoch < links_.peer(*node).epoch) return parts_.drop(wire::Drop::stale);
  links_.bad().note_life(*node);
  dispatch(now, *node, header, packet, out);
  turn(now, out);
}

void RamcastEngine::dispatch(Instant now, NodeIndex node, const wire::Header& header,
                             const BufferRef& packet, Effects& out) {
  const auto kind = static_cast<wire::RamcastKind>(header.kind);
  if (kind == wire::RamcastKind::hello) return on_hello(now, node, header, packet, out);
  // Everything else is between incarnations that have met.
  if (links_.peer(node) != header.sender) return parts_.drop(wire::Drop::foreign);
  const bool for_senders = kind == wire::RamcastKind::pull;
  if (!parts_.serves() && !for_senders) return parts_.drop(wire::Drop::bad_sender);
  switch (kind) {
    case wire::RamcastKind::hello: break;
    case wire::RamcastKind::takeover: return on_takeover(now, node, header, packet, out);
    case wire::RamcastKind::state: return on_state(node, header, packet);
    case wire::RamcastKind::nack: {
      wire::Nack nack;
      const wire::Drop drop = wire::decode_nack(packet.view(), nack);
      if (drop != wire::Drop::none) return parts_.drop(drop);
      if (!is_near(node)) return parts_.drop(wire::Drop::bad_sender);
      return takeover_.on_nack(nack);
    }
    case wire::RamcastKind::relay: return on_relay(now, packet);
    case wire::RamcastKind::pull:
    case wire::RamcastKind::query:
    case wire::RamcastKind::answer: return on_question(now, node, header, packet, out);
    case wire::RamcastKind::backlog_request:
    case wire::RamcastKind::backlog:
    case wire::RamcastKind::backlog_view: return on_backlog(now, node, header, packet, out);
  }
}

void RamcastEngine::on_hello(Instant now, NodeIndex node, const wire::Header& header,
                             const BufferRef& packet, Effects& out) {
  wire::MemoryHello hello;
  const wire::Drop drop = wire::decode_memory_hello(packet.view(), hello);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  // What the former incarnation wrote counts, as far as it is here.
  if (links_.peer(node) != header.sender && takes_part()) static_cast<void>(serve(now, out));
  const Links::Change change = links_.on_hello(now, header.sender, node, hello, out);
  if (change == Links::Change::renewed) {
    inbox_.on_renewed(node);
    if (is_near(node)) {
      watch_.on_renewed(now, node);
      takeover_.forget(layout_.role(node).place);
      log_.drop(node);
    }
  }
  if (change != Links::Change::none && links_.open(node)) on_opened(node);
}

void RamcastEngine::on_takeover(Instant now, NodeIndex node, const wire::Header& header,
                                const BufferRef& packet, Effects& out) {
  wire::Takeover takeover;
  const wire::Drop drop = wire::decode_takeover(packet.view(), takeover);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  rounds_.on_takeover(now, header.sender, node, takeover, out);
}

void RamcastEngine::on_state(NodeIndex node, const wire::Header& header, const BufferRef& packet) {
  wire::MemberState state;
  const wire::Drop drop = wire::decode_member_state(packet.view(), state);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  if (!is_near(node)) return parts_.drop(wire::Drop::bad_sender);
  rounds_.on_state(header.sender, node, state);
}

void RamcastEngine::on_backlog(Instant now, NodeIndex node, const wire::Header& header,
                               const BufferRef& packet, Effects& out) {
  if (!is_near(node)) return parts_.drop(wire::Drop::bad_sender);
  switch (static_cast<wire::RamcastKind>(header.kind)) {
    case wire::RamcastKind::backlog_request: {
      wire::BacklogRequest request;
      const wire::Drop drop = wire::decode_backlog_request(packet.view(), request);
      if (drop != wire::Drop::none) return parts_.drop(drop);
      return backlogs_.on_request(header.sender, node, request, out);
    }
    case wire::RamcastKind::backlog: {
      wire::Backlog backlog;
      const wire::Drop drop = wire::decode_backlog(packet.view(), backlog);
      if (drop != wire::Drop::none) return parts_.drop(drop);
      const auto front = static_cast<std::uint32_t>(
          wire::backlog_header_bytes(backlog.message.head.indexes.size()));
      return backlogs_.on_backlog(now, backlog, packet.slice(front, packet.size() - front), out);
    }
    default: {
      wire::BacklogView backlog;
      const wire::Drop drop = wire::decode_backlog_view(packet.view(), backlog);
      if (drop != wire::Drop::none) return parts_.drop(drop);
      return backlogs_.on_view(now, backlog, out);
    }
  }
}

void RamcastEngine::on_relay(Instant now, const BufferRef& packet) {
  wire::MessageRelay relay;
  const wire::Drop drop = wire::decode_message_relay(packet.view(), relay);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  // A base tells first with which message each sender begins here.
  if (!takes_part() || !standing_.has_order()) return;
  const auto front =
      static_cast<std::uint32_t>(wire::relay_header_bytes(relay.head.indexes.size()));
  repair_.on_relay(now, relay, packet.slice(front, packet.size() - front));
}

void RamcastEngine::on_question(Instant now, NodeIndex node, const wire::Header& header,
                                const BufferRef& packet, Effects& out) {
  wire::AboutMessage about;
  const wire::Drop drop = wire::decode_about_message(packet.view(), about);
  if (drop != wire::Drop::none) return parts_.drop(drop);
  const auto kind = static_cast<wire::RamcastKind>(header.kind);
  if (kind == wire::RamcastKind::pull && sender_.on_pull(node, about.message, out)) return;
  if (!takes_part()) return;
  switch (kind) {
    case wire::RamcastKind::pull: return repair_.on_pull(node, about.message, out);
    case wire::RamcastKind::query:
      if (about.message.sender == header.sender) replies_.on_query(now, node);
      return repair_.on_query(node, about.message, out);
    default: return repair_.on_answer(about, lead_);
  }
}

}  // namespace peal::order::ramcast
