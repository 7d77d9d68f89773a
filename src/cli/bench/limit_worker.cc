// SPDX-License-Identifier: Apache-2.0
// One node of `peal bench limit`: the sockets of a node without a protocol.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "cli/bench/clock.h"
#include "cli/bench/plan.h"
#include "cli/commands.h"
#include "config/file/file.h"
#include "io/clock.h"
#include "io/loop.h"
#include "io/udp.h"

namespace peal::cli {
namespace {

constexpr std::int64_t kReachNs = 3 * kSecondNs;   // time limit for multicast to be detected
constexpr std::int64_t kReadyNs = 20 * kSecondNs;  // time limit for all processes to start
constexpr std::int64_t kWarmUpNs = 3 * kSecondNs / 10;
constexpr std::int64_t kGapNs = 2 * kSecondNs / 10;
// After this time without acknowledgements, packets in progress count as lost.
constexpr std::int64_t kSilenceNs = kSecondNs / 50;
constexpr std::int64_t kRoundTripNs = kSecondNs / 10;  // a longer round trip counts as lost
constexpr std::uint32_t kBatchPackets = 64;
constexpr int kBatchesPerTurn = 4;
constexpr std::uint32_t kSlabs = 1'024;
constexpr std::uint32_t kFrameBytes = 64;

/// The beginning of each packet.
struct Frame {
  enum Kind : std::uint32_t { data, ack, ping, pong };
  std::uint32_t kind;
  std::uint32_t phase;
  /// Data: counts from 1 in each phase. Ack: the last number received. Ping and pong: the number of
  /// the round trip, from 1.
  std::uint64_t number;
};
static_assert(sizeof(Frame) == 16);

/// When one phase runs, in times of now_ns().
struct Span {
  std::int64_t start = 0;  ///< of the warm-up
  std::int64_t from = 0;   ///< of the measurement
  std::int64_t to = 0;
};

class LimitNode : public io::LoopHost, public io::PacketSink {
 public:
  LimitNode(const BenchCommand& command, const BenchPlan& plan, const config::Settings& config)
      : dir_(command.dir), name_(command.worker), plan_(plan), config_(config) {
    for (std::size_t i = 0; i < config.nodes.size(); ++i) {
      if (config.nodes[i].name == name_) index_ = static_cast<std::uint32_t>(i);
    }
    // As in a node, small messages share a packet, and large messages are split. All bytes of a
    // packet count as payload.
    const std::uint32_t most = io::UdpConfig{}.packet_bytes_max;
    result_.packet_bytes =
        plan.payload_bytes > most ? most : most / plan.payload_bytes * plan.payload_bytes;
    frame_bytes_ =
        std::clamp<std::uint32_t>(plan.payload_bytes, sizeof(Frame), result_.packet_bytes);
  }

  LimitResult run() {
    if (open() && meet()) {
      run_phase(1, result_.one, index_ == 0);
      run_phase(2, result_.all, true);
      run_round_trips();
    }
    return std::move(result_);
  }

  // io::LoopHost
  void on_pause(Instant, Duration) override {}
  io::Progress on_sockets(const io::Turn& turn) override { return udp_->receive(turn, *this); }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant now) override {
    if (const auto due = udp_->next_deadline(); due && *due <= now) udp_->on_timer(now);
  }
  void on_turn_end(Instant) override {
    if (sending_) send_batches();
    udp_->flush();
  }
  std::optional<Instant> next_deadline() const override {
    if (sending_ && in_flight() < window_) return Instant{};
    return udp_->next_deadline();
  }

  // io::PacketSink
  Lane preferred_lane() const override { return Lane::token; }
  void on_packet(Instant, NodeId from, Lane, const BufferRef& packet) override {
    Frame frame{};
    if (packet.size() < sizeof frame) return;
    std::memcpy(&frame, packet.data(), sizeof frame);
    const std::size_t peer = from.value - 1;
    switch (frame.kind) {
      case Frame::data:
        if (frame.phase == phase_) on_data(peer, frame.number);
        return;
      case Frame::ack:
        if (frame.phase != phase_) return;
        acked_[peer] = std::max(acked_[peer], frame.number);
        heard_ns_ = now_ns();
        return;
      case Frame::ping: send_frame(from, Lane::token, {Frame::pong, 0, frame.number}); return;
      case Frame::pong: pong_ = std::max(pong_, frame.number); return;
    }
  }

 private:
  struct Source {
    std::uint64_t last = 0;      ///< last number received
    std::uint64_t acked = 0;     ///< last number acknowledged
    std::uint64_t received = 0;  ///< in the measured time, like `lost`
    std::uint64_t lost = 0;
  };

  bool fail_with(std::string problem) {
    result_.problem = std::move(problem);
    return false;
  }

  bool open() {
    auto loop = io::Loop::open({});
    if (!loop) return fail_with(loop.error().message);
    loop_ = std::move(*loop);
    io::UdpConfig udp;
    for (std::size_t i = 0; i < config_.nodes.size(); ++i) {
      udp.nodes.push_back({NodeId{static_cast<std::uint32_t>(i + 1)},
                           io::endpoint_of(config_.nodes[i].address).value()});
    }
    udp.self = NodeId{index_ + 1};
    udp.cluster = config_.nodes.front().address.port;  // determines the multicast group
    auto opened = io::UdpTransport::open(udp, received_);
    if (!opened) return fail_with(opened.error().message);
    udp_ = std::move(*opened);
    if (auto attached = udp_->attach(*loop_); !attached) {
      return fail_with(attached.error().message);
    }
    acked_.resize(config_.nodes.size());
    sources_.resize(config_.nodes.size());
    // The packets in progress of all senders together take up to half of a receiver's buffer: for a
    // packet, the kernel needs more memory than the packet's bytes.
    const std::uint64_t share = udp_->receive_buffer_bytes() / 2 / (config_.nodes.size() - 1);
    window_ = std::clamp<std::uint64_t>(share / 2'304, 4, 2'048);
    return true;
  }

  /// Waits until multicast works or kReachNs has passed, and then until all processes are ready and
  /// the time to begin is known. False if this takes longer than kReadyNs.
  bool meet() {
    const std::int64_t started = now_ns();
    const auto reached = [this] {
      const auto reach = udp_->reach();
      return std::all_of(reach.begin(), reach.end(),
                         [](const io::PeerReach& peer) { return peer.by_multicast; });
    };
    // If multicast does not work in time, the transport sends each receiver its own copy of data,
    // as in a node.
    while (!reached() && now_ns() < started + kReachNs) turn();
    std::ofstream(dir_ + "/" + name_ + ".ready") << "ready";
    while (begin_ns_ == 0) {
      if (now_ns() > started + kReadyNs) return fail_with("not all processes came up in 20 s");
      if (index_ == 0 && all_ready()) call_all();
      std::ifstream(dir_ + "/begin") >> begin_ns_;
      turn();
    }
    return true;
  }

  bool all_ready() const {
    return std::all_of(config_.nodes.begin(), config_.nodes.end(),
                       [this](const config::NodeEntry& node) {
                         return ::access((dir_ + "/" + node.name + ".ready").c_str(), F_OK) == 0;
                       });
  }

  /// Writes the time to begin, by a rename, so that no process reads half a number.
  void call_all() const {
    const std::string path = dir_ + "/begin";
    std::ofstream(path + ".new") << now_ns() + kGapNs;
    ignore(::rename((path + ".new").c_str(), path.c_str()), "all say that nobody called");
  }

  Span span_of(std::uint32_t phase) const {
    const auto seconds = static_cast<std::int64_t>(plan_.seconds * 1e9);
    Span span;
    span.start = begin_ns_ + (phase - 1) * (kWarmUpNs + seconds + kGapNs);
    span.from = span.start + kWarmUpNs;
    span.to = span.from + seconds;
    return span;
  }

  void turn() { loop_->turn(*this, milliseconds(10)); }
  void turn_until(std::int64_t time) {
    while (now_ns() < time) turn();
  }

  void run_phase(std::uint32_t phase, LimitPhase& out, bool sends) {
    const Span span = span_of(phase);
    turn_until(span.start);
    phase_ = phase;
    sent_ = 0;
    heard_ns_ = now_ns();
    std::fill(acked_.begin(), acked_.end(), 0);
    std::fill(sources_.begin(), sources_.end(), Source{});
    sending_ = sends;
    turn_until(span.from);
    const std::uint64_t sent_before = sent_;
    for (Source& source : sources_) source.received = source.lost = 0;
    const double cpu = cpu_seconds();
    turn_until(span.to);
    out.cpu_s = cpu_seconds() - cpu;
    out.packets_sent = sent_ - sent_before;
    for (const Source& source : sources_) {
      out.packets_received += source.received;
      out.packets_lost += source.lost;
    }
    sending_ = false;
  }

  std::uint64_t in_flight() const {
    std::uint64_t least = sent_;
    for (std::size_t peer = 0; peer < acked_.size(); ++peer) {
      if (peer != index_) least = std::min(least, acked_[peer]);
    }
    return sent_ - least;
  }

  void send_batches() {
    if (in_flight() >= window_ && now_ns() > heard_ns_ + kSilenceNs) {
      std::fill(acked_.begin(), acked_.end(), sent_);  // packets still in progress count as lost
    }
    const std::uint64_t room = window_ - std::min(window_, in_flight());
    const auto count = std::min<std::uint64_t>(room, kBatchPackets * kBatchesPerTurn);
    for (std::uint64_t i = 0; i < count; ++i) {
      const BufferRef packet = packets_.take(0, result_.packet_bytes);
      if (!packet) return;  // the last packets are still in use for sending
      const Frame frame{Frame::data, phase_, ++sent_};
      std::memcpy(packet.data(), &frame, sizeof frame);
      udp_->multicast(Lane::data, packet);
    }
  }

  void on_data(std::size_t peer, std::uint64_t number) {
    Source& source = sources_[peer];
    ++source.received;
    if (number > source.last + 1) source.lost += number - source.last - 1;
    source.last = std::max(source.last, number);
    if (source.last - source.acked < window_ / 4) return;
    source.acked = source.last;
    send_frame(NodeId{static_cast<std::uint32_t>(peer + 1)}, Lane::control,
               {Frame::ack, phase_, source.last});
  }

  void send_frame(NodeId to, Lane lane, const Frame& frame) {
    const std::uint32_t bytes = lane == Lane::token ? frame_bytes_ : kFrameBytes;
    const BufferRef packet = packets_.take(0, bytes);
    if (!packet) return;
    std::memcpy(packet.data(), &frame, sizeof frame);
    udp_->send(to, lane, packet);
  }

  /// The first node sends a packet of one message to the second node, which sends the packet back.
  void run_round_trips() {
    const Span span = span_of(3);
    turn_until(span.start);
    if (index_ != 0) return turn_until(span.to);
    std::uint64_t number = 0;
    while (now_ns() < span.to) {
      const std::int64_t sent = now_ns();
      send_frame(NodeId{2}, Lane::token, {Frame::ping, 0, ++number});
      while (pong_ < number && now_ns() < sent + kRoundTripNs) turn();
      const std::int64_t now = now_ns();
      if (pong_ == number && now >= span.from) {
        result_.round_trip.add(static_cast<std::uint64_t>(now - sent));
      }
    }
  }

  const std::string dir_;
  const std::string name_;
  const BenchPlan plan_;
  const config::Settings& config_;
  std::uint32_t index_ = 0;
  std::uint32_t frame_bytes_ = 0;  ///< of a round-trip packet
  BufferPool received_{io::UdpTransport::kSlabBytes, 32};
  BufferPool packets_{1'536, kSlabs};
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<io::UdpTransport> udp_;  // uses the pools, so it is declared after them
  std::int64_t begin_ns_ = 0;
  std::uint32_t phase_ = 0;
  bool sending_ = false;
  std::uint64_t window_ = 0;  ///< limit of packets in progress
  std::uint64_t sent_ = 0;
  std::vector<std::uint64_t> acked_;  ///< the last number that each peer acknowledged
  std::vector<Source> sources_;
  std::int64_t heard_ns_ = 0;
  std::uint64_t pong_ = 0;
  LimitResult result_;
};

}  // namespace

int run_limit_worker(const BenchCommand& command, const BenchPlan& plan) {
  const auto file = config::read_file(command.dir + "/peal.toml", command.worker);
  if (!file) return fail(2, "bench: " + file.error());
  const LimitResult result = LimitNode(command, plan, file->settings).run();
  if (!write_limit_result(command.dir, command.worker, result)) {
    return fail(1, "bench: no result");
  }
  return result.problem.empty() ? 0 : fail(1, "bench: " + command.worker + ": " + result.problem);
}

}  // namespace peal::cli
