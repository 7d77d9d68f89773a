// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/inspection/ghost.h"

#include <optional>

#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::order::paxos {
namespace {

template <class Frame>
std::optional<Frame> frame_in(wire::Drop (*decode)(ByteView, Frame&), ByteView packet) {
  Frame frame;
  if (decode(packet, frame) != wire::Drop::none) return std::nullopt;
  return frame;
}

}  // namespace

GhostEnsembles::GhostEnsembles(const std::vector<std::uint64_t>& clusters, bool labelled,
                               bool on_disk, const GhostReport& report)
    : labelled_(labelled) {
  for (const std::uint64_t cluster : clusters) {
    Ensemble& ensemble = ensembles_.emplace_back();
    ensemble.cluster = cluster;
    ensemble.orders = std::make_unique<GhostOrders>(on_disk, report);
    ensemble.acceptors = std::make_unique<GhostAcceptors>(on_disk, *ensemble.orders, report);
  }
}

GhostAcceptors* GhostEnsembles::of_packet(ByteView packet) {
  if (ensembles_.size() == 1) return ensembles_.front().acceptors.get();
  const std::optional<std::uint64_t> cluster = wire::cluster_of(packet);
  for (const Ensemble& each : ensembles_) {
    if (each.cluster == cluster) return each.acceptors.get();
  }
  return nullptr;
}

GhostAcceptors* GhostEnsembles::of_record(ByteView& record) {
  if (!labelled_) return ensembles_.front().acceptors.get();
  if (record.empty()) return nullptr;
  const auto label = std::to_integer<std::size_t>(record.front());
  record = record.subspan(1);
  return label < ensembles_.size() ? ensembles_[label].acceptors.get() : nullptr;
}

// ---- packets ----

/// Observes received LOG_HEARD packets. Ignores damaged ones.
void GhostEnsembles::received(MemberId who, const InspectedPacket& packet) {
  if (static_cast<wire::PaxosKind>(packet.kind) != wire::PaxosKind::log_heard) return;
  wire::Header header;
  if (wire::decode_header(packet.bytes, header) != wire::Drop::none) return;
  GhostAcceptors* of = of_packet(packet.bytes);
  if (of == nullptr) return;
  if (const auto answer = frame_in(wire::decode_log_answer, packet.bytes)) {
    of->told_of_log(who, header.sender, *answer);
  }
}

void GhostEnsembles::sent(MemberId from, const InspectedPacket& packet) {
  using wire::PaxosKind;
  const ByteView bytes = packet.bytes;
  GhostAcceptors* of = of_packet(bytes);
  if (of == nullptr) return;
  switch (static_cast<PaxosKind>(packet.kind)) {
    case PaxosKind::state:
      if (const auto state = frame_in(wire::decode_state, bytes)) of->said_state(from, *state);
      return;
    case PaxosKind::promise:
      if (const auto promise = frame_in(wire::decode_promise, bytes)) {
        of->said_promise(from, *promise);
      }
      return;
    case PaxosKind::lives:
      if (const auto lives = frame_in(wire::decode_lives, bytes)) of->said_lives(from, *lives);
      return;
    case PaxosKind::checkpoint:
      if (const auto state = frame_in(wire::decode_checkpoint, bytes)) {
        of->said_checkpoint(from, *state);
      }
      return;
    case PaxosKind::decided:
      if (const auto frame = frame_in(wire::decode_value, bytes)) {
        of->said_decided(from, frame->instance,
                         value_digest(frame->head, bytes.subspan(wire::kDataHeaderBytes)));
      }
      return;
    case PaxosKind::distribute:
      if (const auto frame = frame_in(wire::decode_relay, bytes); frame && !frame->own) {
        of->said_decided(from, frame->instance,
                         value_digest(frame->head, bytes.subspan(wire::kRelayHeaderBytes)));
      }
      return;
    default: return;
  }
}

// ---- logs ----

void GhostEnsembles::on_log_opened(MemberId self, std::uint64_t id, bool put_back) {
  for (const Ensemble& each : ensembles_) {
    each.acceptors->opened(self, id | wire::kLogBit, newest_segment_[self.node], put_back);
  }
}

void GhostEnsembles::on_log_read(NodeId node, LogPosition position, ByteView bytes) {
  GhostAcceptors* of = of_record(bytes);
  if (of == nullptr || !read_record(bytes, record_)) return;
  of->read(node, position, record_);
}

void GhostEnsembles::on_log_replayed(NodeId node, LogPosition last) {
  for (const Ensemble& each : ensembles_) each.acceptors->replayed(node, last);
}

void GhostEnsembles::on_log_appended(NodeId node, LogPosition position, ByteView first,
                                     ByteView rest) {
  GhostAcceptors* of = of_record(first);
  if (of == nullptr || !read_record(first, record_)) return;
  // A value's bytes come last, and may be in a buffer of their own.
  if (!rest.empty()) record_.bytes = rest;
  of->appended(node, position, record_);
}

void GhostEnsembles::on_log_checkpoint(NodeId node, LogPosition keep_from) {
  for (const Ensemble& each : ensembles_) each.acceptors->let_go(node, keep_from);
}

void GhostEnsembles::on_log_durable(NodeId node, LogPosition upto) {
  for (const Ensemble& each : ensembles_) each.acceptors->durable(node, upto);
}

LogFigures GhostEnsembles::figures() const {
  LogFigures all;
  for (const Ensemble& each : ensembles_) {
    const LogFigures& of = each.acceptors->figures();
    all.logs_read += of.logs_read;
    all.logs_cut += of.logs_cut;
    all.votes_read += of.votes_read;
    all.votes_needed += of.votes_needed;
    all.older_votes_needed += of.older_votes_needed;
    all.promises_read += of.promises_read;
  }
  return all;
}

}  // namespace peal::order::paxos
