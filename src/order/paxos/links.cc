// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hooks.h"
#include "order/paxos/engine.h"

// Links between nodes: what this node says and finds out of them, and of its own disk.

namespace peal::order::paxos {
namespace {

constexpr std::uint32_t kSmallBytes = 128;

/// In units of Options::suspect: a log that has made nothing durable for so long, and has something
/// to write, hangs.
constexpr std::int64_t kDiskHangsFor = 5;

}  // namespace

void PaxosEngine::look_at_links(Instant now) {
  disk_hangs_ = look_at_disk(now);
  peers_.self().state.disk_hangs = says_that_disk_hangs();
  company_.look(now, config_, peers_, state_);
  peers_.watch(now, state_.next());
  const Peer* last = peers_.find(round_seen_.coordinator.node);
  const bool less_fit = last != nullptr && !last->self && last->has_state &&
                        company_.fitness() >= wire::Fitness::connected &&
                        last->state.fitness < company_.fitness() && !PEAL_MUTANT(px_unfit_leads);
  if (!less_fit) fit_enough_at_ = now;
  misses_ = coordinator_ && misses_last();
}

bool PaxosEngine::look_at_disk(Instant now) {
  const port::Log* log = config_.log;
  if (log == nullptr || in_memory()) return false;
  const bool moved = log->durable() != disk_at_ || log->durable() >= log->last();
  if (moved) disk_moved_at_ = now;
  disk_at_ = log->durable();
  return now - disk_moved_at_ >= config_.options.suspect * kDiskHangsFor;
}

/// Not all ensembles have something to write, and their disk is one.
bool PaxosEngine::says_that_disk_hangs() const {
  return disk_hangs_ || (config_.merger != nullptr && config_.merger->disk_hangs());
}

// Signs of life are small, and have a lane of their own: they tell nothing of the lane of data, nor
// of large packets.
void PaxosEngine::check_links(Effects& out) {
  const auto [every, large_every] = link_rhythm(config_.merger != nullptr);
  if (beats_ % every != 0) return;
  const std::uint32_t number = beats_ / every;
  const bool large = number % large_every == 0;
  const wire::LinkCheck check{number, large ? config_.options.packet_bytes_max : kSmallBytes};
  const BufferRef packet = outbox_.build([&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_link_check(header, check, bytes);
  });
  if (!packet) return;
  for (const Peer& peer : peers_.all()) {
    if (!peer.self) out.send(peer.node, Lane::data, packet);
  }
}

wire::Drop PaxosEngine::on_link_check(Peer& from, const BufferRef& packet) {
  wire::LinkCheck check;
  const wire::Drop reason = wire::decode_link_check(packet.view(), check);
  if (reason != wire::Drop::none) return reason;
  from.reception.check(check.number,
                       check.number / link_rhythm(config_.merger != nullptr).large_every,
                       check.bytes >= config_.options.packet_bytes_max);
  return wire::Drop::none;
}

}  // namespace peal::order::paxos
