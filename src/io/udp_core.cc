// SPDX-License-Identifier: Apache-2.0
#include "io/udp_core.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "io/clock.h"

namespace peal::io {

void UdpTransport::Core::send(NodeId to, Lane lane, const BufferRef& packet) {
  const auto peer = peers_.find(to);
  if (!peer) {
    ++counters_.drop_unknown_peer;
    return;
  }
  if (streams_ != nullptr && lane == Lane::data) return push_data(*peer, packet);
  if (streams_ != nullptr && !fits_datagram(packet) && streams_->push(*peer, lane, packet)) return;
  sender_.push_to(*peer, lane, packet);
}

void UdpTransport::Core::multicast(Lane lane, const BufferRef& packet) {
  if (streams_ != nullptr && (lane == Lane::data || !fits_datagram(packet))) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const auto peer = static_cast<PeerIndex>(i);
      if (lane != Lane::data) {
        send(peers_[peer].node, lane, packet);
      } else if (audience_[i]) {
        push_data(peer, packet);
      }
    }
    return;
  }
  if (lane == Lane::data) data_queued_ = true;
  sender_.push_to_all(lane, packet);
}

bool UdpTransport::Core::fits_datagram(const BufferRef& packet) const {
  const std::size_t sealing = seals_ ? seal::overhead(Lane::control) : 0;
  return packet.size() + sealing <= sockets_.datagram_bytes_max;
}

void UdpTransport::Core::push_data(PeerIndex peer, const BufferRef& packet) {
  if (!streams_->push(peer, Lane::data, packet)) streams_->count_not_connected();
}

NodeId UdpTransport::Core::congested() const {
  if (streams_ == nullptr) return {};
  const Instant now = Clock::now();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto peer = static_cast<PeerIndex>(i);
    if (audience_[i] && streams_->is_full(peer, now)) return peers_[peer].node;
  }
  return {};
}

std::vector<StreamState> UdpTransport::Core::streams() const {
  std::vector<StreamState> states;
  if (streams_ == nullptr) return states;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto peer = static_cast<PeerIndex>(i);
    const OutgoingStream& to = streams_->to(peer);
    states.push_back(
        {peers_[peer].node, to.is_open(), to.queued_bytes(), to.dropped(), to.problem()});
  }
  return states;
}

void UdpTransport::Core::set_audience(std::span<const MemberId> members) {
  std::fill(audience_.begin(), audience_.end(), false);
  for (const MemberId& member : members) {
    if (const auto peer = peers_.find(member.node)) audience_[*peer] = true;
  }
  update_route();
}

// Multicast is used for two or more members. For one member, unicast costs the same and reaches no
// other node.
void UdpTransport::Core::update_route() {
  DataRoute& route = sender_.route();
  std::size_t listeners = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto peer = static_cast<PeerIndex>(i);
    reach_[i].by_multicast = probe_.reached(peer);
    if (audience_[i] && probe_.reached(peer)) ++listeners;
  }
  const bool forbidden = faults_ && faults_->forbids_multicast();
  route.multicast = sockets_.group && listeners >= 2 && !forbidden;
  route.unicast_count = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto peer = static_cast<PeerIndex>(i);
    if (!audience_[i] || (route.multicast && probe_.reached(peer))) continue;
    route.unicast[route.unicast_count++] = peer;
  }
}

void UdpTransport::Core::flush() {
  if (data_queued_) probe_.note_traffic(now_);
  data_queued_ = false;
  sender_.flush();
  watch_room();
  if (streams_ != nullptr) streams_->flush(Clock::now());
}

// Makes the loop wake up when the full socket can take packets again. Only a full socket is watched
// for this, because any other socket would wake the loop with every packet that is sent.
void UdpTransport::Core::watch_room() {
  const int blocked = sender_.blocked_fd();
  if (loop_ == nullptr || blocked == watched_for_room_) return;
  if (watched_for_room_ >= 0) loop_->change(watched_for_room_, EPOLLIN | EPOLLET);
  if (blocked >= 0) loop_->change(blocked, EPOLLIN | EPOLLOUT | EPOLLET);
  watched_for_room_ = blocked;
}

Progress UdpTransport::Core::receive(const Turn& turn, PacketSink& sink) {
  now_ = turn.now;
  if (loop_ == nullptr) {  // no loop reports which socket is readable
    for (const auto socket : {Receiver::kToken, Receiver::kData, Receiver::kGroup}) {
      receiver_.mark_readable(socket);
    }
  }
  Progress progress = receiver_.receive(turn, sink, *this);
  if (streams_ != nullptr && streams_->receive(Clock::now(), sink)) progress.more = true;
  if (probe_.take_changed()) update_route();
  return progress;
}

std::optional<Instant> UdpTransport::Core::next_deadline() const {
  std::optional<Instant> first = streams_ ? streams_->next_deadline() : std::nullopt;
  for (const auto& each : {probe_.next_deadline(), receiver_.next_deadline()}) {
    if (each && (!first || *each < *first)) first = each;
  }
  return first;
}

void UdpTransport::Core::on_timer(Instant now) {
  now_ = now;
  if (streams_ != nullptr) streams_->on_timer(now);
  const auto hello = probe_.on_timer(now);
  if (probe_.take_changed()) update_route();
  if (hello) send_hello(*hello);
}

void UdpTransport::Core::send_hello(const ProbeMessage& hello) {
  ++counters_.probe_hello_out;
  if (faults_ && (faults_->loses_multicast_out() || faults_->forbids_multicast() ||
                  faults_->loses_out(Lane::data))) {
    ++counters_.drop_fault_out;
    return;
  }
  if (send_probe(hello, {}, group_, group_bytes_)) ++own_.count;
}

void UdpTransport::Core::send_ack(PeerIndex to, const ProbeMessage& ack) {
  ++counters_.probe_ack_out;
  if (!peers_[to].known()) return;  // the peer's address was lost after its hello
  if (faults_ && (faults_->mutes(peers_[to].node, Lane::data) || faults_->loses_out(Lane::data))) {
    ++counters_.drop_fault_out;
    return;
  }
  send_probe(ack, peers_[to].node, peers_[to].data, peers_.address_bytes());
}

bool UdpTransport::Core::send_probe(const ProbeMessage& message, NodeId receiver,
                                    const sockaddr_storage& to, socklen_t to_bytes) {
  const ProbeBytes bytes = encode_probe(message);
  std::array<std::byte, ProbeMessage::kBytes + seal::overhead(Lane::control)> sealed;
  ByteView datagram = bytes;
  if (seals_) {
    // seal() fails only after 2^48 packets of one lane.
    PEAL_ASSERT(seals_->sealer().seal(Lane::control, receiver, bytes, sealed));
    datagram = sealed;
  }
  ++counters_.send_calls;
  const ssize_t sent = ::sendto(sockets_.data.get(), datagram.data(), datagram.size(), MSG_DONTWAIT,
                                reinterpret_cast<const sockaddr*>(&to), to_bytes);
  if (sent < 0) ++counters_.drop_send_error;
  return sent >= 0;
}

void UdpTransport::Core::on_probe(Instant now, PeerIndex from, bool by_multicast,
                                  ByteView datagram) {
  const auto message = decode_probe(datagram);
  auto outcome = MulticastProbe::Outcome::bad;
  ProbeMessage ack;
  const NodeId node = peers_[from].node;
  if (message && by_multicast) {
    outcome = probe_.on_hello(now, from, node, *message, ack);
  } else if (message) {
    outcome = probe_.on_ack(now, from, node, *message);
  }
  switch (outcome) {
    case MulticastProbe::Outcome::bad: ++counters_.probe_bad; break;
    case MulticastProbe::Outcome::ignored: ++counters_.probe_limited; break;
    case MulticastProbe::Outcome::answer:
      ++counters_.probe_hello_in;
      send_ack(from, ack);
      break;
    case MulticastProbe::Outcome::accepted:
      ++counters_.probe_ack_in;
      reach_[from].last_ack = now;
      break;
  }
}

void UdpTransport::Core::set_keys(const seal::Keys& keys) {
  PEAL_ASSERT(seals_);
  if (streams_ != nullptr) streams_->forget_sealed();
  seals_->set_keys(keys);
}

void UdpTransport::Core::set_epoch(std::uint64_t epoch) {
  if (!seals_) return;
  sender_.flush();
  if (streams_ != nullptr) streams_->forget_sealed();
  seals_->set_epoch(epoch);
}

void UdpTransport::Core::set_faults(const Faults& faults) {
  PEAL_ASSERT(faults_);
  faults_->set(faults);
  update_route();
}

void UdpTransport::Core::set_address(NodeId node, const Endpoint& at) {
  const auto peer = peers_.find(node);
  PEAL_ASSERT(peer);
  peers_.set_address(*peer, at);
  if (streams_ != nullptr) streams_->update_addresses(Clock::now());
  if (peers_[*peer].known() && is_local(at)) share_machine(sockets_, own_);
  probe_.forget(now_, *peer);
  if (probe_.take_changed()) update_route();
}

void UdpTransport::Core::set_nodes(std::span<const Peer> nodes) {
  sender_.flush();
  const std::vector<PeerReach> reach = std::exchange(reach_, {});
  const std::vector<bool> audience = std::exchange(audience_, {});
  std::vector<Endpoint> before;
  for (std::size_t i = 0; i < reach.size(); ++i) {
    before.push_back(peers_[static_cast<PeerIndex>(i)].at);
  }
  const PeerMap map = peers_.set_nodes(nodes);
  sender_.move_peers(map);
  receiver_.move_peers(map);
  probe_.move_peers(now_, map, peers_.size());
  if (seals_) seals_->set_nodes(nodes);
  if (streams_ != nullptr) streams_->move_peers(Clock::now(), map);
  audience_.assign(peers_.size(), false);  // a new node is in no view yet
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const PeerTable::Entry& entry = peers_[static_cast<PeerIndex>(i)];
    reach_.push_back({entry.node, false, {}});
    if (entry.known() && is_local(entry.at)) share_machine(sockets_, own_);
  }
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (!map[i]) continue;
    audience_[*map[i]] = audience[i];
    reach_[*map[i]].last_ack = reach[i].last_ack;
    if (peers_[*map[i]].at != before[i]) probe_.forget(now_, *map[i]);
  }
  if (sockets_.group && peers_.size() > 0 && !probe_.next_deadline()) probe_.start(now_);
  ignore(probe_.take_changed(), "the route is made anew anyway");
  update_route();
}

}  // namespace peal::io
