// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/link_watch.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/ensemble.h"

namespace peal::order::paxos {
namespace {

constexpr std::uint32_t kSmallBytes = 128;

/// In units of Options::suspect: a log hangs if it has something to write, and has made nothing
/// durable for so long.
constexpr std::int64_t kDiskHangsFor = 5;

}  // namespace

void LinkWatch::look(Instant now) {
  look_at_disk(now);
  p_.peers.self().state.disk_hangs = says_that_disk_hangs();
  company_.look(now, p_.config, p_.peers, p_.state);
  p_.peers.watch(now, p_.state.next());
}

void LinkWatch::look_at_disk(Instant now) {
  const port::Log* log = p_.config.log;
  if (log == nullptr || p_.in_memory()) return;
  PEAL_ASSERT(disk_at_ <= log->durable() && "what is durable stays so");
  const bool moved = log->durable() != disk_at_ || log->durable() >= log->last();
  if (moved) disk_moved_at_ = now;
  disk_at_ = log->durable();
  disk_hangs_ = now - disk_moved_at_ >= p_.config.options.suspect * kDiskHangsFor;
}

bool LinkWatch::says_that_disk_hangs() const {
  return disk_hangs_ || (p_.config.merger != nullptr && p_.config.merger->disk_hangs());
}

// Heartbeats are small, and have a lane of their own. They show nothing about the data lane or
// about large packets.
void LinkWatch::check(Effects& out) {
  const auto [every, large_every] = link_rhythm(p_.config.merger != nullptr);
  if (beats_ % every != 0) return;
  const std::uint32_t number = beats_ / every;
  const bool large = number % large_every == 0;
  const wire::LinkCheck check{number, large ? p_.config.options.packet_bytes_max : kSmallBytes};
  const BufferRef packet = p_.outbox.build([&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_link_check(header, check, bytes);
  });
  if (!packet) return;
  for (const Peer& peer : p_.peers.all()) {
    if (!peer.self) out.send(peer.node, Lane::data, packet);
  }
}

wire::Drop LinkWatch::on_check(Peer& from, const BufferRef& packet) {
  wire::LinkCheck check;
  const wire::Drop reason = wire::decode_link_check(packet.view(), check);
  if (reason != wire::Drop::none) return reason;
  from.reception.check(check.number,
                       check.number / link_rhythm(p_.config.merger != nullptr).large_every,
                       check.bytes >= p_.config.options.packet_bytes_max);
  return wire::Drop::none;
}

std::uint64_t LinkWatch::failing() const {
  const std::vector<Peer>& peers = p_.peers.all();
  return static_cast<std::uint64_t>(std::count_if(peers.begin(), peers.end(), [](const Peer& peer) {
    return peer.listed && !peer.self && !peer.suspected && !peer.reception.works();
  }));
}

void LinkWatch::check_invariants() const {
  const bool on_disk = p_.config.log != nullptr && !p_.in_memory();
  PEAL_ASSERT(on_disk || !disk_hangs_);
  PEAL_ASSERT(!on_disk || disk_at_ <= p_.config.log->durable());
}

}  // namespace peal::order::paxos
