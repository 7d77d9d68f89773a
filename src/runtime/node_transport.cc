// SPDX-License-Identifier: Apache-2.0
#include "runtime/node_transport.h"

#include <algorithm>
#include <utility>

#include "runtime/text.h"
#include "wire/frames.h"
#include "wire/settings.h"

namespace peal::runtime {
namespace {

static_assert(io::FrameHeader::kBytes == wire::kHeaderBytes);

io::UdpConfig udp_config(const NodeTable& nodes) {
  const config::Settings& settings = nodes.settings();
  io::UdpConfig udp;
  udp.self = settings.self();
  udp.nodes = nodes.peers();
  udp.cluster = cluster_id(settings);
  if (settings.keys) {
    udp.seal = io::UdpSeal{*settings.keys, seal_cluster_id(settings), 0,
                           settings.order->write_data_header};
  }
  udp.multicast = uses_streams(settings) ? io::MulticastMode::off : settings.multicast;
  if (uses_streams(settings)) udp.streams.emplace();
  udp.group = settings.group;
  udp.packet_bytes_max = packet_bytes(settings);
  udp.faults = settings.faults;
  udp.fault_seed = udp.self.value;  // so that nodes do not lose the same packets
  return udp;
}

}  // namespace

Result<std::unique_ptr<NodeTransport>, io::IoError> NodeTransport::open(const NodeTable& nodes,
                                                                        io::Loop& loop,
                                                                        Buffers& buffers,
                                                                        Warn warn) {
  auto udp = io::UdpTransport::open(udp_config(nodes), buffers.received);
  if (!udp) return unexpected(udp.error());
  if (auto attached = (*udp)->attach(loop); !attached) return unexpected(attached.error());
  return std::unique_ptr<NodeTransport>(
      new NodeTransport(nodes, std::move(*udp), buffers, std::move(warn)));
}

NodeTransport::NodeTransport(const NodeTable& nodes, std::unique_ptr<io::UdpTransport> udp,
                             Buffers& buffers, Warn warn)
    : nodes_(nodes),
      warn_(std::move(warn)),
      udp_(std::move(udp)),
      settings_notice_(
          nodes.settings(), nodes.names(), buffers.frames,
          {[this] { return node_->self(); },
           [this](NodeId to, const BufferRef& packet) { udp_->send(to, Lane::control, packet); },
           [this](NodeId node, const std::string& line) { refusals_.add(node, line); },
           [this](const std::string& line) { warn_(line); }}) {
  if (nodes.settings().keys) sending_ = nodes.settings().keys->sending;
}

void NodeTransport::attach(node::Node& node, TraceLog* trace) {
  node_ = &node;
  trace_ = trace;
}

void NodeTransport::send(NodeId to, Lane lane, const BufferRef& packet) {
  if (trace_ != nullptr) trace_->flush();
  udp_->send(to, lane, packet);
}

void NodeTransport::multicast(Lane lane, const BufferRef& packet) {
  if (trace_ != nullptr) trace_->flush();
  udp_->multicast(lane, packet);
}

NodeId NodeTransport::congested() const {
  const NodeId slow = udp_->congested();
  held_ = held_ || slow != NodeId{};
  return slow;
}

void NodeTransport::flush(Instant now) {
  udp_->flush();
  if (!uses_streams(nodes_.settings())) return;
  // New units were held back because of a congested peer, which has caught up now.
  if (held_ && udp_->congested() == NodeId{}) {
    held_ = false;
    node_->on_room(now);
    udp_->flush();
  }
  unreached_.look(
      now, [this] { return udp_->streams(); },
      [this](const io::StreamState& state) { warn_(unreached_text(state, nodes_.names())); });
}

std::optional<Instant> NodeTransport::next_deadline() const {
  const std::optional<Instant> udp = udp_->next_deadline();
  const std::optional<Instant> notice = settings_notice_.next_deadline();
  if (!udp || !notice) return udp ? udp : notice;
  return std::min(*udp, *notice);
}

void NodeTransport::on_timer(Instant now) {
  if (const auto due = udp_->next_deadline(); due && *due <= now) udp_->on_timer(now);
  if (const auto due = settings_notice_.next_deadline(); due && *due <= now)
    settings_notice_.on_timer(now);
}

void NodeTransport::note_member(NodeId node) {
  refusals_.erase(node);
  settings_notice_.forget(node);
}

void NodeTransport::set_keys(const seal::Keys& keys) {
  sending_ = keys.sending;
  udp_->set_keys(keys);
  refusals_.clear();
}

void NodeTransport::use_table() {
  udp_->set_nodes(nodes_.peers());
  refusals_.tell_again_unless([this](NodeId node) { return nodes_.has(node); });
}

void NodeTransport::on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) {
  unreached_.heard(from);
  const bool settings = wire::frame_kind_of(packet.view()) == wire::FrameKind::settings;
  if (settings && settings_notice_.on_packet(now, from, packet.view())) return;
  node_->on_packet(now, lane, packet);
}

void NodeTransport::on_refused(Instant now, NodeId from, const seal::Opened& refused) {
  if (refused.reason == seal::Refusal::old_incarnation && refused.newest.epoch != 0) {
    node_->on_old_incarnation(now, refused.newest);
  }
  const std::string text = refusals_.add(from, refused.reason, nodes_.names());
  if (!text.empty()) warn_(text);
}

}  // namespace peal::runtime
