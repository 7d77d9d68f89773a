// SPDX-License-Identifier: Apache-2.0
#include "io/multicast_probe.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"

namespace peal::io {
namespace {

constexpr std::size_t kChecked = ProbeMessage::kBytes - 4;
constexpr Duration kBusy = seconds(2);  // time of frequent hellos after a change, or after data

template <class T>
std::size_t put(ProbeBytes& out, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[at + i] = static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  return at + sizeof(T);
}

template <class T>
T get(ByteView in, std::size_t& at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<std::uint64_t>(in[at + i]) << (8 * i);
  }
  at += sizeof(T);
  return static_cast<T>(value);
}

}  // namespace

bool looks_like_probe(ByteView datagram) {
  if (datagram.size() < 2) return false;
  std::size_t at = 0;
  return get<std::uint16_t>(datagram, at) == ProbeMessage::kMagic;
}

ProbeBytes encode_probe(const ProbeMessage& message) {
  ProbeBytes out{};
  std::size_t at = put(out, 0, ProbeMessage::kMagic);
  at = put(out, at, ProbeMessage::kVersion);
  at = put(out, at, static_cast<std::uint8_t>(message.kind));
  at = put(out, at, message.cluster);
  at = put(out, at, message.sender.value);
  at = put(out, at, message.nonce);
  put(out, at, crc32c(ByteView(out).first(kChecked)));
  return out;
}

std::optional<ProbeMessage> decode_probe(ByteView datagram) {
  if (datagram.size() != ProbeMessage::kBytes) return std::nullopt;
  std::size_t at = 0;
  if (get<std::uint16_t>(datagram, at) != ProbeMessage::kMagic) return std::nullopt;
  if (get<std::uint8_t>(datagram, at) != ProbeMessage::kVersion) return std::nullopt;
  ProbeMessage message;
  message.kind = static_cast<ProbeMessage::Kind>(get<std::uint8_t>(datagram, at));
  message.cluster = get<std::uint64_t>(datagram, at);
  message.sender = NodeId{get<std::uint32_t>(datagram, at)};
  message.nonce = get<std::uint64_t>(datagram, at);
  if (get<std::uint32_t>(datagram, at) != crc32c(datagram.first(kChecked))) return std::nullopt;
  const bool known =
      message.kind == ProbeMessage::Kind::hello || message.kind == ProbeMessage::Kind::ack;
  if (!known) return std::nullopt;
  return message;
}

MulticastProbe::MulticastProbe(std::size_t peers, std::uint64_t cluster, NodeId self,
                               std::uint64_t seed)
    : peers_(peers), cluster_(cluster), self_(self), random_(seed) {}

void MulticastProbe::start(Instant now) {
  next_hello_ = now;
  start_hellos_ = kStartHellos;
}

std::optional<ProbeMessage> MulticastProbe::on_timer(Instant now) {
  if (!next_hello_ || now < *next_hello_) return std::nullopt;
  if (nonce_count_ > 0) settle_answers(now);
  std::copy_backward(nonces_.begin(), nonces_.end() - 1, nonces_.end());
  nonces_[0] = random_.next();
  nonce_count_ = std::min(nonce_count_ + 1, kNoncesKept);
  last_hello_ = now;
  const bool all = std::all_of(peers_.begin(), peers_.end(),
                               [](const Peer& peer) { return peer.reached && peer.misses == 0; });
  Duration interval = now < busy_until_ ? kInterval : all ? kSteadyInterval : kIdleInterval;
  if (start_hellos_ > 0) {
    --start_hellos_;
    interval = kStartInterval;
  }
  next_hello_ = now + interval;
  return ProbeMessage{ProbeMessage::Kind::hello, cluster_, self_, nonces_[0]};
}

// The time for answers to the latest hello is over: counts a miss for each peer without an answer.
void MulticastProbe::settle_answers(Instant now) {
  for (Peer& peer : peers_) {
    if (peer.answered) {
      peer.answered = false;
      continue;
    }
    peer.answers = 0;
    peer.misses = std::min(peer.misses + 1, kMissesMax);
    if (!peer.reached || peer.misses < kMissesMax) continue;
    peer.reached = false;
    changed_ = true;
    busy_until_ = now + kBusy;
  }
}

void MulticastProbe::note_traffic(Instant now) {
  busy_until_ = std::max(busy_until_, now + kBusy);
  if (next_hello_) next_hello_ = std::min(*next_hello_, std::max(now, last_hello_ + kInterval));
}

MulticastProbe::Outcome MulticastProbe::on_hello(Instant now, PeerIndex index, NodeId node,
                                                 const ProbeMessage& hello, ProbeMessage& ack) {
  if (hello.kind != ProbeMessage::Kind::hello) return Outcome::bad;
  if (hello.cluster != cluster_ || hello.sender != node) return Outcome::bad;
  Peer& peer = peers_[index];
  if (peer.acked && now - *peer.acked < kAckInterval) return Outcome::ignored;
  peer.acked = now;
  // The peer's multicast arrives here, so this node's multicast probably reaches the peer too. The
  // peer may just have started.
  if (!peer.reached) hurry(now);
  ack = {ProbeMessage::Kind::ack, cluster_, self_, hello.nonce};
  return Outcome::answer;
}

// Sends the next few hellos sooner. Does so at most once per second, even if peers cause it more
// often.
void MulticastProbe::hurry(Instant now) {
  if (!next_hello_ || start_hellos_ > 0) return;
  if (hurried_ && now - *hurried_ < kIdleInterval) return;
  hurried_ = now;
  start_hellos_ = kAnswersMin;
  next_hello_ = std::min(*next_hello_, std::max(now, last_hello_ + kStartInterval));
}

MulticastProbe::Outcome MulticastProbe::on_ack(Instant now, PeerIndex index, NodeId node,
                                               const ProbeMessage& ack) {
  if (ack.kind != ProbeMessage::Kind::ack) return Outcome::bad;
  if (ack.cluster != cluster_ || ack.sender != node) return Outcome::bad;
  const auto end = nonces_.begin() + static_cast<std::ptrdiff_t>(nonce_count_);
  if (std::find(nonces_.begin(), end, ack.nonce) == end) return Outcome::bad;
  Peer& peer = peers_[index];
  peer.misses = 0;
  // A late or repeated answer does not increase the count of answers in a row.
  if (ack.nonce != nonces_[0] || peer.answered) return Outcome::accepted;
  peer.answered = true;
  peer.answers = std::min(peer.answers + 1, kAnswersMin);
  if (!peer.reached && peer.answers == kAnswersMin) {
    peer.reached = true;
    changed_ = true;
    busy_until_ = now + kBusy;
  }
  return Outcome::accepted;
}

void MulticastProbe::forget(Instant now, PeerIndex index) {
  changed_ = changed_ || peers_[index].reached;
  peers_[index] = {};
  hurry(now);
}

void MulticastProbe::move_peers(Instant now, const PeerMap& map, std::size_t peers) {
  std::vector<Peer> moved(peers);
  std::size_t stay = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!map[i]) continue;
    moved[*map[i]] = peers_[i];
    ++stay;
  }
  peers_ = std::move(moved);
  changed_ = true;
  if (peers == 0) next_hello_.reset();
  if (stay < peers) hurry(now);
}

bool MulticastProbe::take_changed() {
  const bool changed = changed_;
  changed_ = false;
  return changed;
}

}  // namespace peal::io
