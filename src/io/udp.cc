// SPDX-License-Identifier: Apache-2.0
#include "io/udp.h"

#include <sys/epoll.h>
#include <sys/random.h>

#include <array>
#include <utility>

#include "base/assert.h"
#include "io/clock.h"
#include "io/udp_core.h"

namespace peal::io {
namespace {

// A seed for nonces. Outsiders cannot guess it, unless the system has no random bytes yet and the
// clock replaces them.
std::uint64_t nonce_seed() {
  std::uint64_t seed = 0;
  if (::getrandom(&seed, sizeof seed, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof seed)) {
    seed = static_cast<std::uint64_t>(Clock::now().ns);
  }
  return seed;
}

Sender::Options sender_options(const UdpConfig& config, const UdpSockets& sockets) {
  Sender::Options options;
  options.token_fd = sockets.token.get();
  options.data_fd = sockets.data.get();
  options.group = sockets.group_at;
  options.queue_packets = config.send_queue_packets;
  options.segmentation = sockets.segmentation;
  options.header = config.frame_header();
  return options;
}

Receiver::Options receiver_options(const UdpConfig& config, const UdpSockets& sockets) {
  Receiver::Options options;
  options.fds = {sockets.token.get(), sockets.data.get(), sockets.group.get()};
  options.coalescing = sockets.coalescing;
  options.packet_bytes_max = config.packet_bytes_max;
  options.budget = config.receive_budget;
  options.header = config.frame_header();
  return options;
}

}  // namespace

UdpTransport::Core::Core(const UdpConfig& config, UdpSockets sockets, BufferPool& pool)
    : sockets_(std::move(sockets)),
      peers_(config),
      own_{sockets_.own_filtered, sockets_.coalescing, 0},
      seals_(config.seal ? std::optional<Seals>(std::in_place, config, *config.seal)
                         : std::nullopt),
      probe_(peers_.size(), config.cluster, config.self, nonce_seed()),
      sender_(sender_options(config, sockets_), peers_, counters_, own_,
              config.faults ? &faults_.emplace(*config.faults, config.fault_seed) : nullptr,
              seals_ ? &seals_->sealer() : nullptr),
      receiver_(receiver_options(config, sockets_), pool, peers_, counters_, own_,
                faults_ ? &*faults_ : nullptr, seals_ ? &seals_->opener() : nullptr),
      audience_(peers_.size(), true),
      now_(Clock::now()) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    reach_.push_back({peers_[static_cast<PeerIndex>(peer)].node, false, {}});
  }
  group_bytes_ = to_sockaddr(sockets_.group_at, group_);
  if (sockets_.group && peers_.size() > 0) probe_.start(now_);
  update_route();
}

UdpTransport::Core::~Core() {
  if (loop_ == nullptr) return;
  for (const Fd* fd : {&sockets_.token, &sockets_.data, &sockets_.group}) {
    if (*fd) loop_->unwatch(fd->get());
  }
}

Result<void, IoError> UdpTransport::Core::attach(Loop& loop) {
  PEAL_ASSERT(loop_ == nullptr);
  const std::array<std::pair<const Fd*, Receiver::Socket>, 3> all{{
      {&sockets_.token, Receiver::kToken},
      {&sockets_.data, Receiver::kData},
      {&sockets_.group, Receiver::kGroup},
  }};
  for (const auto& [fd, socket] : all) {
    if (!*fd) continue;
    const auto watched =
        loop.watch(fd->get(), EPOLLIN | EPOLLET, [this, which = socket](std::uint32_t events) {
          // EPOLLOUT (space to send) need not be noted: the event wakes the loop, and each turn
          // flushes.
          if (events != EPOLLOUT) receiver_.mark_readable(which);
        });
    if (!watched) return watched;
  }
  loop_ = &loop;
  return streams_ != nullptr ? streams_->attach(loop) : Result<void, IoError>{};
}

Result<void, IoError> UdpTransport::Core::open_streams(const UdpConfig& config, BufferPool& pool) {
  auto opened = PeerStreams::open(
      {*config.streams, peers_.own_data()}, peers_, pool, seals_ ? &seals_->sealer() : nullptr,
      seals_ ? &seals_->opener() : nullptr, faults_ ? &*faults_ : nullptr);
  if (!opened) return unexpected(opened.error());
  streams_ = std::move(*opened);
  return {};
}

Result<std::unique_ptr<UdpTransport>, IoError> UdpTransport::open(const UdpConfig& config,
                                                                  BufferPool& receive_pool) {
  const auto checked = check_udp_config(config, receive_pool);
  if (!checked) return unexpected(checked.error());
  auto sockets = open_udp_sockets(config);
  if (!sockets) return unexpected(sockets.error());
  auto core = std::make_unique<Core>(config, std::move(*sockets), receive_pool);
  if (config.streams) {
    if (auto streams = core->open_streams(config, receive_pool); !streams) {
      return unexpected(streams.error());
    }
  }
  return std::unique_ptr<UdpTransport>(new UdpTransport(std::move(core)));
}

UdpTransport::UdpTransport(std::unique_ptr<Core> core) : core_(std::move(core)) {}
UdpTransport::~UdpTransport() = default;

Result<void, IoError> UdpTransport::attach(Loop& loop) { return core_->attach(loop); }
void UdpTransport::send(NodeId to, Lane lane, const BufferRef& packet) {
  core_->send(to, lane, packet);
}
void UdpTransport::multicast(Lane lane, const BufferRef& packet) { core_->multicast(lane, packet); }
void UdpTransport::set_nodes(std::span<const Peer> nodes) { core_->set_nodes(nodes); }
void UdpTransport::set_audience(std::span<const MemberId> members) { core_->set_audience(members); }
NodeId UdpTransport::congested() const { return core_->congested(); }
std::vector<StreamState> UdpTransport::streams() const { return core_->streams(); }
const PeerStreamCounters* UdpTransport::stream_counters() const { return core_->stream_counters(); }
void UdpTransport::flush() { core_->flush(); }
Progress UdpTransport::receive(const Turn& turn, PacketSink& sink) {
  return core_->receive(turn, sink);
}
std::optional<Instant> UdpTransport::next_deadline() const { return core_->next_deadline(); }
void UdpTransport::on_timer(Instant now) { core_->on_timer(now); }
const UdpCounters& UdpTransport::counters() const { return core_->counters(); }
std::span<const PeerReach> UdpTransport::reach() const { return core_->reach(); }
const std::string& UdpTransport::multicast_status() const {
  return core_->sockets().multicast_status;
}
bool UdpTransport::segmentation() const { return core_->segmentation(); }
bool UdpTransport::coalescing() const { return core_->sockets().coalescing; }
std::uint32_t UdpTransport::receive_buffer_bytes() const {
  return core_->sockets().receive_buffer_bytes;
}
void UdpTransport::set_keys(const seal::Keys& keys) { core_->set_keys(keys); }
void UdpTransport::set_epoch(std::uint64_t epoch) { core_->set_epoch(epoch); }
std::uint64_t UdpTransport::count(seal::Refusal reason) const { return core_->count(reason); }
void UdpTransport::set_faults(const Faults& faults) { core_->set_faults(faults); }
void UdpTransport::set_address(NodeId node, const Endpoint& at) { core_->set_address(node, at); }

}  // namespace peal::io
