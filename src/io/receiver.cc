// SPDX-License-Identifier: Apache-2.0
#include "io/receiver.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "io/clock.h"
#include "io/multicast_probe.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace peal::io {
namespace {

// The frame's header replaces the header of the seal, which is kReachBack bytes shorter. So the
// frame's header begins in front of the packet: in the unused front of the slab, or in the GCM tag
// of the previous packet, which was opened already.
constexpr std::uint32_t kReachBack = FrameHeader::kBytes - seal::headroom(Lane::data);
static_assert(kReachBack <= seal::kTagBytes && kReachBack <= SlabCursor::kFront);

}  // namespace

Receiver::Receiver(const Options& options, BufferPool& pool, const PeerTable& peers,
                   UdpCounters& counters, const OwnCopies& own, FaultInjector* faults,
                   seal::Opener* opener)
    : options_(options),
      peers_(peers),
      counters_(counters),
      own_(own),
      faults_(faults),
      opener_(opener),
      token_slabs_(pool),
      data_slabs_(pool) {
  for (std::size_t i = 0; i < kSockets; ++i) {
    Input& input = inputs_[i];
    input.fd = options.fds[i];
    input.lane = i == kToken ? Lane::token : Lane::data;
    input.by_multicast = i == kGroup;
    input.slabs = i == kToken ? &token_slabs_ : &data_slabs_;
    // A token or a coalesced message may need the largest slot; one data datagram does not. A read
    // of the token socket asks for two messages. If only one arrives, the socket is empty, and no
    // further system call is needed to find that out.
    const bool whole = i == kToken || options.coalescing;
    const std::uint32_t slot = whole ? kDatagramMax : std::max(options.packet_bytes_max, 2'048U);
    input.slot_bytes = SlabCursor::aligned(slot);
    input.slots = i == kToken ? 2 : 1;
    if (!whole) {
      const std::uint32_t fit =
          SlabCursor::room_max(UdpTransport::kSlabBytesMin) / input.slot_bytes;
      input.slots = std::clamp<unsigned>(fit, 1, kBatchMax);
    }
  }
  token_slabs_.room(kDatagramMax);
}

Progress Receiver::receive(const Turn& turn, PacketSink& sink, ProbeTaker& probes) {
  now_ = turn.now;
  retry_starved(turn.now);
  const Context context{sink, probes};
  std::uint32_t budget = options_.budget;
  while (budget > 0 && step(context)) --budget;
  if (budget == 0 && turn.timers_due) {
    // Timers are due although the budget is used up. Also reads the tokens that have arrived, even
    // if the node prefers data. Otherwise the timer for a lost token could expire although the
    // token is here.
    for (unsigned i = 0; i < kUrgentMax && step_token(context, true); ++i) {
    }
  }
  Progress progress;
  for (const Input& input : inputs_) {
    if (input.has_waiting() || input.may_read()) progress.more = true;
  }
  const Input& token = inputs_[kToken];
  progress.drained = !token.has_waiting() && !token.readable;
  return progress;
}

std::optional<Instant> Receiver::next_deadline() const { return pool_retry_; }

void Receiver::move_peers(const PeerMap& map) {
  for (Input& input : inputs_) {
    unsigned kept = input.first;
    for (unsigned i = input.first; i < input.count; ++i) {
      Message message = std::exchange(input.waiting[i], {});
      if (!map[message.from]) {
        const std::uint32_t left = message.bytes.size() - message.offset;
        counters_.drop_unknown_source += (left + message.segment - 1) / message.segment;
        continue;
      }
      message.from = *map[message.from];
      input.waiting[kept++] = std::move(message);
    }
    input.count = kept;
  }
}

void Receiver::retry_starved(Instant now) {
  if (!pool_retry_) return;
  const bool empty = data_slabs_.pool_empty();
  pool_retry_ = empty ? std::optional<Instant>(now + kPoolRetry) : std::nullopt;
  if (empty) return;
  for (Input& input : inputs_) input.starved = false;
}

// Hands over one datagram, or drops some; false if there is nothing to read.
bool Receiver::step(const Context& context) {
  switch (context.sink.preferred_lane()) {
    case Lane::token: return step_token(context, inputs_[kToken].unsure) || step_data(context);
    case Lane::data: return step_data(context) || step_token(context, false);
    case Lane::control: break;
  }
  // Control and data take turns, so that neither can starve the other.
  control_next_ = !control_next_;
  if (control_next_) return step_token(context, false) || step_data(context);
  return step_data(context) || step_token(context, false);
}

// If `look_again` is true, reads even if the socket was empty at the last read.
bool Receiver::step_token(const Context& context, bool look_again) {
  Input& token = inputs_[kToken];
  if (look_again) token.readable = true;
  token.unsure = false;
  return step_input(token, context);
}

bool Receiver::step_data(const Context& context) {
  // Hands over a whole message before it reads the next message. Otherwise the two sockets take
  // turns.
  for (const Socket socket : {kData, kGroup}) {
    if (inputs_[socket].has_waiting()) return step_input(inputs_[socket], context);
  }
  const Socket first = next_data_;
  const Socket second = first == kData ? kGroup : kData;
  next_data_ = second;
  return step_input(inputs_[first], context) || step_input(inputs_[second], context);
}

bool Receiver::step_input(Input& input, const Context& context) {
  if (!input.has_waiting()) {
    if (!input.may_read() || !read(input)) return false;
    if (!input.has_waiting()) return true;  // all messages were dropped, which counts as work
  }
  hand_over(input, context);
  return true;
}

void Receiver::hand_over(Input& input, const Context& context) {
  Message& message = input.waiting[input.first];
  const PeerIndex source = message.from;
  BufferRef packet = cut(message);
  if (!message.bytes) ++input.first;

  NodeId from = peers_[source].node;
  if (faults_ != nullptr && faults_->loses_in(from, input.lane, input.by_multicast)) {
    ++counters_.drop_fault_in;
    return;
  }
  Lane sealed_as = input.lane;
  const std::uint32_t bytes = packet.size();
  if (opener_ != nullptr && !open(input, context, packet, from, sealed_as)) return;
  if (is_probe(input, packet, sealed_as)) {
    context.probes.on_probe(now_, source, input.by_multicast, packet.view());
    return;
  }
  if (input.lane == Lane::token) {
    ++counters_.token_packets_in;
    counters_.token_bytes_in += bytes;
  } else {
    ++counters_.data_packets_in;
    counters_.data_bytes_in += bytes;
    if (input.by_multicast) ++counters_.data_multicast_in;
  }
  context.sink.on_packet(now_, from, input.lane, packet);
}

// The next datagram of a message; after the last one the message is empty.
BufferRef Receiver::cut(Message& message) const {
  const std::uint32_t left = message.bytes.size() - message.offset;
  const std::uint32_t size = std::min(message.segment, left);
  if (size == message.bytes.size()) return std::move(message.bytes);
  BufferRef packet = message.bytes.slice(message.offset, size);
  message.offset += size;
  if (size == left) message.bytes.reset();
  return packet;
}

// Probes share the data sockets. They are sealed as control, because control packets introduce the
// incarnation of their sender.
bool Receiver::is_probe(const Input& input, const BufferRef& packet, Lane sealed_as) const {
  if (input.lane == Lane::token) return false;
  return opener_ != nullptr ? sealed_as == Lane::control : looks_like_probe(packet.view());
}

bool Receiver::open(const Input& input, const Context& context, BufferRef& packet, NodeId& from,
                    Lane& sealed_as) {
  // Decrypts in place: these bytes of the slab have no other reader yet.
  const seal::Way way = input.lane == Lane::token ? seal::Way::tokens : seal::Way::data;
  const seal::Opened opened = opener_->open({packet.data(), packet.size()}, way);
  if (opened.reason != seal::Refusal::none) {
    context.sink.on_refused(now_, from, opened);
    return false;
  }
  const bool fits =
      input.lane == Lane::token ? opened.lane != Lane::data : opened.lane != Lane::token;
  if (!fits) {
    ++counters_.drop_wrong_lane;
    return false;
  }
  const auto front = static_cast<std::uint32_t>(opened.plain.data() - packet.data());
  packet = packet.slice(front, static_cast<std::uint32_t>(opened.plain.size()));
  if (opened.lane == Lane::data) {
    packet.grow_front(options_.header.left_out());
    options_.header.restore(opened.sender, opened.mark, {packet.data(), packet.size()});
  }
  from = opened.sender.node;
  sealed_as = opened.lane;
  return true;
}

// Reads with one system call; false if no message waited or no slab was free.
bool Receiver::read(Input& input) {
  std::byte* room = input.slabs->room(input.slots * input.slot_bytes);
  if (room == nullptr) {
    ++counters_.pool_exhausted;
    input.starved = true;
    pool_retry_ = now_ + kPoolRetry;
    return false;
  }
  prepare(input, room);
  ++counters_.receive_calls;
  const int received =
      options_.call(input.fd, messages_.data(), input.slots, MSG_DONTWAIT, nullptr);
  if (received <= 0) {
    // Any error except EAGAIN concerns one datagram; the next call reads the next datagram.
    const bool again = received < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
    if (!again) {
      ++counters_.receive_empty;
      input.readable = false;
    }
    return again;
  }
  now_ = Clock::now();
  input.first = input.count = 0;
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(received); ++slot) {
    take_in(input, slot);
  }
  input.slabs->advance();
  if (static_cast<unsigned>(received) < input.slots) input.readable = false;
  if (input.lane == Lane::data) inputs_[kToken].unsure = true;
  return true;
}

void Receiver::prepare(const Input& input, std::byte* room) {
  for (unsigned slot = 0; slot < input.slots; ++slot) {
    vectors_[slot] = {room + slot * input.slot_bytes, input.slot_bytes};
    msghdr& header = messages_[slot].msg_hdr;
    header.msg_name = &sources_[slot];
    header.msg_namelen = sizeof sources_[slot];
    header.msg_iov = &vectors_[slot];
    header.msg_iovlen = 1;
    header.msg_control = controls_[slot].bytes.data();
    header.msg_controllen = controls_[slot].bytes.size();
    header.msg_flags = 0;
  }
}

// Checks one received message, and keeps it for handing over.
void Receiver::take_in(Input& input, std::size_t slot) {
  mmsghdr& message = messages_[slot];
  const std::uint32_t bytes = message.msg_len;
  std::uint32_t segment = read_control(input, message.msg_hdr);
  if (segment == 0 || segment > bytes) segment = bytes;
  if (segment < bytes) {
    ++counters_.coalesced_messages;
    counters_.coalesced_packets += (bytes + segment - 1) / segment;
  }
  const auto from = peer_of(sources_[slot], input, message, segment);
  if (!from) return;
  if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0 || bytes > input.slot_bytes) {
    note_dropped(counters_.drop_truncated, message, segment);
    return;
  }
  Message& waiting = input.waiting[input.count++];
  const auto offset = static_cast<std::uint32_t>(slot) * input.slot_bytes;
  // Moves a small datagram next to the previous one, so that the unused part of its large slot
  // stays usable.
  const bool sparse = bytes <= input.slot_bytes / 4;
  waiting.bytes = input.slabs->take(
      offset, bytes, sparse ? SlabCursor::Place::close_up : SlabCursor::Place::as_is);
  waiting.offset = 0;
  waiting.segment = segment;
  waiting.from = *from;
}

std::optional<PeerIndex> Receiver::peer_of(const sockaddr_storage& source, Input& input,
                                           const mmsghdr& message, std::uint32_t segment) {
  const Endpoint endpoint = from_sockaddr(source);
  const auto peer = peers_.find(endpoint);
  if (!peer) {
    const bool own = input.by_multicast && endpoint == peers_.own_data();
    note_dropped(own ? counters_.drop_own : counters_.drop_unknown_source, message, segment);
  }
  return peer;
}

void Receiver::note_dropped(std::uint64_t& counter, const mmsghdr& message, std::uint32_t segment) {
  counter += segment == 0 ? 1 : (message.msg_len + segment - 1) / segment;
}

// Returns the segment size of a coalesced message, otherwise 0. Counts the datagrams that the
// kernel dropped because the socket's buffer was full.
std::uint32_t Receiver::read_control(Input& input, msghdr& header) {
  std::uint32_t segment = 0;
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    std::uint32_t value = 0;
    if (item->cmsg_len < CMSG_LEN(sizeof value)) continue;
    std::memcpy(&value, CMSG_DATA(item), sizeof value);
    if (item->cmsg_level == IPPROTO_UDP && item->cmsg_type == UDP_GRO) segment = value;
    if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_RXQ_OVFL) {
      note_kernel_drops(input, value);
    }
  }
  return segment;
}

// `drops` is the socket's drop counter, which wraps, at the time when the kernel queued the
// message. own_.count may already include own copies that the socket dropped after that time. Then
// the number of the kernel's drops seems to decrease. Such a decrease is ignored; a later message
// gives the right number.
void Receiver::note_kernel_drops(Input& input, std::uint32_t drops) {
  if (input.by_multicast && own_.filtered) drops -= static_cast<std::uint32_t>(own_.count);
  const std::uint32_t more = drops - input.kernel_drops;
  if (more > std::numeric_limits<std::int32_t>::max()) return;
  counters_.drop_kernel += more;
  input.kernel_drops = drops;
}

}  // namespace peal::io
