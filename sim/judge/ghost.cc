// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/ghost.h"

#include <utility>

#include "order/ring/commit_record.h"
#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::sim {
namespace {

/// Of one run; what comes after them is not worth reading.
constexpr unsigned kReportsMax = 16;

template <class Frame>
std::optional<Frame> decoded(wire::Drop (*decode)(ByteView, Frame&), const Packet& packet) {
  Frame frame;
  if (decode(packet.bytes, frame) != wire::Drop::none) return std::nullopt;
  return frame;
}

}  // namespace

Ghost::Ghost(const Options& options, GhostReport report)
    : labelled_(options.ensembles > 1 || options.domains > 0) {
  const auto few = [report = std::move(report), count = std::make_shared<unsigned>(0)](
                       std::string property, std::string text) {
    if ((*count)++ < kReportsMax) report(std::move(property), std::move(text));
  };
  if (options.ring) {
    ring_.emplace(options.first_count, few);
    token_ = std::make_unique<wire::Token>();
    return;
  }
  for (std::uint32_t i = 0; i < options.ensembles + options.domains; ++i) {
    Ensemble& ensemble = ensembles_.emplace_back();
    ensemble.cluster =
        labelled_ ? order::ridge::ensemble_cluster(options.cluster, i) : options.cluster;
    ensemble.orders = std::make_unique<GhostOrders>(options.on_disk, few);
    ensemble.acceptors = std::make_unique<GhostAcceptors>(options.on_disk, *ensemble.orders, few);
  }
}

GhostAcceptors* Ghost::of_packet(ByteView packet) {
  if (ensembles_.size() == 1) return ensembles_.front().acceptors.get();
  const std::optional<std::uint64_t> cluster = wire::cluster_of(packet);
  for (const Ensemble& each : ensembles_) {
    if (each.cluster == cluster) return each.acceptors.get();
  }
  return nullptr;
}

GhostAcceptors* Ghost::of_record(ByteView& record) {
  if (!labelled_) return ensembles_.front().acceptors.get();
  if (record.empty()) return nullptr;
  const auto label = std::to_integer<std::size_t>(record.front());
  record = record.subspan(1);
  return label < ensembles_.size() ? ensembles_[label].acceptors.get() : nullptr;
}

// ---- packets ----

void Ghost::sent(MemberId from, const Packet& packet) {
  if (!ring_) return sent_on_quorums(from, packet);
  switch (packet.kind) {
    case PacketKind::token:
      // It has much room, which is not to be made anew for each.
      if (wire::decode_token(packet.bytes, *token_) == wire::Drop::none) {
        ring_->said_token(from, *token_);
      }
      return;
    case PacketKind::join:
      if (const auto join = decoded(wire::decode_join, packet)) ring_->said_join(from, *join);
      return;
    case PacketKind::commit:
      if (const auto commit = decoded(order::ring::decode_commit, packet)) {
        ring_->said_commit(from, *commit);
      }
      return;
    case PacketKind::data: received(from, packet); return;
    default: return;
  }
}

void Ghost::received(MemberId who, const Packet& packet) {
  if (!ring_) {
    if (packet.kind == PacketKind::log_heard) heard_of_log(who, packet);
    return;
  }
  if (packet.kind != PacketKind::data) return;
  if (const auto data = decoded(wire::decode_data, packet)) {
    ring_->holds(who, data->view, data->seq);
  }
}

/// Damaged ones tell nothing.
void Ghost::heard_of_log(MemberId who, const Packet& packet) {
  wire::Header header;
  if (wire::decode_header(packet.bytes, header) != wire::Drop::none) return;
  GhostAcceptors* of = of_packet(packet.bytes);
  if (of == nullptr) return;
  if (const auto answer = decoded(wire::decode_log_answer, packet)) {
    of->told_of_log(who, header.sender, *answer);
  }
}

void Ghost::sent_on_quorums(MemberId from, const Packet& packet) {
  GhostAcceptors* of = of_packet(packet.bytes);
  if (of == nullptr) return;
  switch (packet.kind) {
    case PacketKind::state:
      if (const auto state = decoded(wire::decode_state, packet)) of->said_state(from, *state);
      return;
    case PacketKind::promise:
      if (const auto promise = decoded(wire::decode_promise, packet)) {
        of->said_promise(from, *promise);
      }
      return;
    case PacketKind::lives:
      if (const auto lives = decoded(wire::decode_lives, packet)) of->said_lives(from, *lives);
      return;
    case PacketKind::checkpoint:
      if (const auto state = decoded(wire::decode_checkpoint, packet)) {
        of->said_checkpoint(from, *state);
      }
      return;
    case PacketKind::decided:
      if (const auto frame = decoded(wire::decode_value, packet)) {
        const ByteView bytes = ByteView(packet.bytes).subspan(wire::kDataHeaderBytes);
        of->said_decided(from, frame->instance, value_digest(frame->head, bytes));
      }
      return;
    case PacketKind::distribute:
      if (const auto frame = decoded(wire::decode_relay, packet); frame && !frame->own) {
        const ByteView bytes = ByteView(packet.bytes).subspan(wire::kRelayHeaderBytes);
        of->said_decided(from, frame->instance, value_digest(frame->head, bytes));
      }
      return;
    default: return;
  }
}

void Ghost::delivered(MemberId who, const order::Delivery& delivery) {
  if (ring_) ring_->delivered(who, delivery);
}

void Ghost::installed(MemberId who, const order::View& view) {
  if (ring_) ring_->installed(who, view);
}

// ---- logs ----

void Ghost::on_log_opened(MemberId self, std::uint64_t id, bool put_back) {
  for (const Ensemble& each : ensembles_) {
    each.acceptors->opened(self, id | wire::kLogBit, newest_segment_[self.node], put_back);
  }
}

void Ghost::on_log_read(NodeId node, LogPosition position, ByteView bytes) {
  GhostAcceptors* of = of_record(bytes);
  if (of == nullptr || !order::paxos::read_record(bytes, record_)) return;
  of->read(node, position, record_);
}

void Ghost::on_log_replayed(NodeId node, LogPosition last) {
  for (const Ensemble& each : ensembles_) each.acceptors->replayed(node, last);
}

void Ghost::on_log_appended(NodeId node, LogPosition position, ByteView first, ByteView rest) {
  GhostAcceptors* of = of_record(first);
  if (of == nullptr || !order::paxos::read_record(first, record_)) return;
  // A value's bytes come last, and may lie apart.
  if (!rest.empty()) record_.bytes = rest;
  of->appended(node, position, record_);
}

void Ghost::on_log_checkpoint(NodeId node, LogPosition keep_from) {
  for (const Ensemble& each : ensembles_) each.acceptors->let_go(node, keep_from);
}

void Ghost::on_log_durable(NodeId node, LogPosition upto) {
  for (const Ensemble& each : ensembles_) each.acceptors->durable(node, upto);
}

GhostAcceptors::Figures Ghost::figures() const {
  GhostAcceptors::Figures all;
  for (const Ensemble& each : ensembles_) {
    const GhostAcceptors::Figures& of = each.acceptors->figures();
    all.logs_read += of.logs_read;
    all.logs_cut += of.logs_cut;
    all.votes_read += of.votes_read;
    all.votes_needed += of.votes_needed;
    all.older_votes_needed += of.older_votes_needed;
    all.promises_read += of.promises_read;
  }
  return all;
}

}  // namespace peal::sim
