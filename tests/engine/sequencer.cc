// SPDX-License-Identifier: Apache-2.0
#include "sequencer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/digest.h"
#include "order/field.h"
#include "wire/byte_reader.h"
#include "wire/writer.h"

namespace peal::order::sequencer {
namespace {

struct Options {
  std::uint32_t window = 8;
  Duration tick = milliseconds(5);
  std::uint32_t max_gap = 1'024;
};
constexpr std::array kFields{
    field<&Options::window>({.key = "sequencer.window",
                             .least = 1,
                             .most = 64,
                             .cluster_wide = true,
                             .in_status = true,
                             .help = "how many units of a node wait for their positions at most"}),
    field<&Options::tick>({.key = "sequencer.tick_ms",
                           .least = 1'000'000,
                           .most = 1'000'000'000,
                           .help = "how often a node asks again for what did not arrive"}),
    field<&Options::max_gap>(
        {.key = "sequencer.max_gap", .least = 1, .most = 8'192, .internal = true}),
};

Options options_of(const OptionValues& values) {
  Options options;
  read_options<Options>(values, kFields, options);
  return options;
}

enum class Kind : std::uint8_t { status = 100, sync = 101, grant = 102, data = 103, nack = 104 };

constexpr std::uint16_t kMagic = 0x4c50;
constexpr std::uint32_t kHeaderBytes = 4 + 8 + 12;
constexpr std::uint32_t kDataBytes = kHeaderBytes + 8 + 1;
constexpr std::size_t kResentMax = 16;

/// The state that a member reports to the sequencer. `wanted` counts the member's units that have a
/// position or wait for one, and `placed` counts those that have one.
struct Status {
  bool installed = false;
  std::uint64_t wanted = 0, placed = 0;
  Seq received = 0, delivered = 0, stable = 0;
};

struct Peer {
  MemberId id{};
  Status told;
  std::uint64_t granted = 0;
  std::map<std::uint64_t, Seq> grants;  ///< by unit number; the peer may not have received them
};

struct Arrived {
  MemberId origin{};
  Service service{};
  BufferRef unit;
};

class SequencerEngine final : public Engine {
 public:
  SequencerEngine(const Setup& setup, BufferPool& packets, Host& host)
      : self_(setup.self),
        nodes_(setup.list.nodes),
        cluster_(setup.cluster),
        packet_bytes_max_(setup.packet_bytes_max),
        options_(options_of(setup.options)),
        packets_(packets),
        host_(host),
        high_(setup.first_count),
        received_(high_),
        delivered_(high_),
        stable_(high_),
        granted_(high_) {
    if (leads()) {
      for (const NodeId node : nodes_) peers_[node];
    }
  }

  void start(Instant now, Effects& out) override { on_timer(now, out); }

  void on_packet(Instant now, Lane /*lane*/, const BufferRef& packet, Effects& out) override {
    if (left_) return;
    wire::ByteReader in(packet.view());
    const auto magic = in.u<std::uint16_t>();
    const auto version = in.u<std::uint8_t>();
    const auto kind = static_cast<Kind>(in.u<std::uint8_t>());
    const auto cluster = in.u<std::uint64_t>();
    const MemberId from = read_member(in);
    if (in.failed() || magic != kMagic || version != 1 || cluster != cluster_) return;
    switch (kind) {
      case Kind::status: on_status(from, read_status(in), out); break;
      case Kind::sync: on_sync(in, out); break;
      case Kind::grant: on_grant(in, out); break;
      case Kind::nack: on_nack(from, in.u<Seq>(), out); break;
      case Kind::data: on_data(from, in, packet); break;
      default: return;
    }
    go_on(now, out);
  }

  void on_timer(Instant now, Effects& out) override {
    if (left_) return;
    next_tick_ = now + options_.tick;
    if (std::exchange(received_before_, received_) == received_ && received_ < high_) {
      say(Kind::nack, nullptr, out, [this](wire::Writer& to) { to.u(received_ + 1); });
    }
    tell(out);
    for (const auto& [node, peer] : peers_) {
      if (node == self_.node || peer.id == MemberId{}) continue;
      for (const auto& [count, seq] : peer.grants) send_grant(node, count, seq, out);
      if (!peer.told.installed || peer.told.received < granted_) send_sync(node, out);
    }
    go_on(now, out);
  }

  void on_work(Instant now, Effects& out) override { go_on(now, out); }
  void on_pause(Instant /*now*/, Duration /*gap*/, Effects& /*out*/) override {}
  void on_drained(Instant /*now*/, Effects& /*out*/) override {}
  void leave(Instant /*now*/, Effects& /*out*/) override { left_ = true; }

  std::optional<Instant> next_deadline() const override {
    if (left_ || !is_busy()) return std::nullopt;
    return next_tick_;
  }
  Lane preferred_lane() const override { return Lane::data; }
  MemberId self() const override { return self_; }
  WaitReason why() const override {
    if (members_.empty()) return {.kind = &wait::gathering, .who = {nodes_.front(), 0}};
    if (delivered_ < high_) return {.kind = &wait::packet, .seq = delivered_ + 1};
    return {};
  }
  std::span<const Counter> counters() const override {
    counters_ = {Counter{"sequencer_granted", granted_}, Counter{"sequencer_nacks", nacks_}};
    return counters_;
  }
  void check_invariants() const override {
    PEAL_ASSERT(delivered_ <= received_ && received_ <= high_ && stable_ <= high_);
    PEAL_ASSERT(taken_.size() <= options_.window);
  }
  std::uint64_t digest() const override {
    Digest digest;
    for (const std::uint64_t each : {high_, received_, delivered_, stable_, granted_, wanted_}) {
      digest.add(each);
    }
    return digest.value();
  }

 private:
  bool leads() const { return self_.node == nodes_.front(); }
  bool is_busy() const {
    const auto lags = [this](const auto& each) {
      return !each.second.told.installed || each.second.told.received < granted_;
    };
    return !told_.installed || !taken_.empty() || received_ < high_ || stable_ < received_ ||
           told_.delivered != delivered_ || std::any_of(peers_.begin(), peers_.end(), lags);
  }

  // ---- sending packets ----

  template <class Write>
  void say(Kind kind, const NodeId* to, Effects& out, Write write) {
    BufferRef packet = packets_.take(0, packet_bytes_max_);
    if (!packet) return;  // the next tick tries again
    wire::Writer in(ByteSpan(packet.data(), packet.size()));
    write_header(kind, in);
    write(in);
    PEAL_ASSERT(!in.failed());
    packet.truncate(static_cast<std::uint32_t>(in.written()));
    if (to == nullptr) {
      out.multicast(Lane::token, packet);
    } else {
      out.send(*to, Lane::token, packet);
    }
  }
  void write_header(Kind kind, wire::Writer& in) const {
    in.u(kMagic);
    in.u(std::uint8_t{1});
    in.u(static_cast<std::uint8_t>(kind));
    in.u(cluster_);
    in.member(self_);
  }
  void send_grant(NodeId to, std::uint64_t count, Seq seq, Effects& out) {
    say(Kind::grant, &to, out, [&](wire::Writer& in) {
      in.u(count);
      in.u(seq);
    });
  }
  void send_sync(NodeId to, Effects& out) {
    say(Kind::sync, &to, out, [this](wire::Writer& in) {
      in.u(granted_);
      in.u(stable_);
      in.count(view_members_.size(), nodes_.size());
      in.members(view_members_);
    });
  }
  /// Reports the state of this member to the sequencer.
  void tell(Effects& out) {
    told_ = {!members_.empty(), wanted_, placed_, received_, delivered_, stable_};
    if (leads()) return on_status(self_, told_, out);
    say(Kind::status, &nodes_.front(), out, [this](wire::Writer& in) {
      in.u(static_cast<std::uint8_t>(told_.installed));
      for (const std::uint64_t each :
           {told_.wanted, told_.placed, told_.received, told_.delivered, told_.stable}) {
        in.u(each);
      }
    });
  }
  static Status read_status(wire::ByteReader& in) {
    Status told;
    told.installed = in.u<std::uint8_t>() != 0;
    for (std::uint64_t* each :
         {&told.wanted, &told.placed, &told.received, &told.delivered, &told.stable}) {
      *each = in.u<std::uint64_t>();
    }
    return in.failed() ? Status{} : told;
  }

  // ---- the sequencer ----

  void on_status(const MemberId& from, const Status& told, Effects& out) {
    const auto known = peers_.find(from.node);
    if (known == peers_.end()) return;
    Peer& peer = known->second;
    if (peer.id == MemberId{}) peer.id = from;
    if (peer.id != from) return;
    Status& last = peer.told;
    last.installed = last.installed || told.installed;
    last.wanted = std::max(last.wanted, told.wanted);
    last.received = std::max(last.received, told.received);
    last.delivered = std::max(last.delivered, told.delivered);
    last.placed = std::max(last.placed, told.placed);
    peer.grants.erase(peer.grants.begin(), peer.grants.lower_bound(last.placed));
    gather(out);
    Seq stable = granted_, delivered = granted_;
    for (const auto& [node, each] : peers_) {
      stable = std::min(stable, std::max(each.told.received, stable_));
      delivered = std::min(delivered, each.told.delivered);
    }
    set_stable(stable);
    // No unit gets a position before all members have installed the view.
    const auto outside = [](const auto& each) { return !each.second.told.installed; };
    const bool all_in = std::none_of(peers_.begin(), peers_.end(), outside);
    for (auto& [node, each] : peers_) {
      while (all_in && each.granted < each.told.wanted && granted_ < delivered + options_.max_gap) {
        each.grants[each.granted] = high_ = ++granted_;
        if (node != self_.node) send_grant(node, each.granted, granted_, out);
        ++each.granted;
      }
    }
    if (from != self_ && told.stable < stable_) send_sync(from.node, out);
  }
  /// Installs the view once every node has sent a status.
  void gather(Effects& out) {
    if (!view_members_.empty()) return;
    std::vector<MemberId> members;
    for (const auto& [node, peer] : peers_) {
      if (peer.id == MemberId{}) return;
      members.push_back(peer.id);
    }
    view_members_ = members;
    install(members, out);
  }

  // ---- members ----

  void install(const std::vector<MemberId>& members, Effects& out) {
    members_ = members;
    View view;
    view.id = view_ = {1, members.front()};
    view.members = members_;
    out.install(view);
    out.report({.kind = &event::view_installed, .view = view_, .a = members_.size()});
  }
  void on_sync(wire::ByteReader& in, Effects& out) {
    const Seq granted = in.u<Seq>();
    const Seq stable = in.u<Seq>();
    std::vector<MemberId> members(std::min<std::size_t>(in.u<std::uint16_t>(), nodes_.size()));
    for (MemberId& each : members) each = read_member(in);
    if (in.failed() || leads()) return;
    if (members_.empty() && members.size() == nodes_.size()) install(members, out);
    high_ = std::max(high_, granted);
    set_stable(std::min(stable, high_));
  }
  void set_stable(Seq stable) {
    stable_ = std::max(stable_, stable);
    own_.erase(own_.begin(), own_.upper_bound(stable_));
  }
  void on_grant(wire::ByteReader& in, Effects& /*out*/) {
    const auto count = in.u<std::uint64_t>();
    const Seq seq = in.u<Seq>();
    if (!in.failed() && count >= placed_ && count < wanted_) grants_[count] = seq;
  }
  void on_nack(const MemberId& from, Seq seq, Effects& out) {
    ++nacks_;
    auto each = own_.lower_bound(seq);
    for (std::size_t i = 0; i < kResentMax && each != own_.end(); ++i, ++each) {
      out.send(from.node, Lane::data, each->second);
    }
  }
  void on_data(const MemberId& from, wire::ByteReader& in, const BufferRef& packet) {
    const Seq seq = in.u<Seq>();
    const auto service = in.u<std::uint8_t>();
    if (in.failed() || service > static_cast<std::uint8_t>(Service::safe)) return;
    if (seq > delivered_ + options_.max_gap) return;
    store(seq, {from, static_cast<Service>(service),
                packet.slice(kDataBytes, packet.size() - kDataBytes)});
  }
  void store(Seq seq, Arrived arrived) {
    if (seq <= received_) return;
    arrived_.try_emplace(seq, std::move(arrived));
    high_ = std::max(high_, seq);
    while (arrived_.contains(received_ + 1)) ++received_;
  }

  /// Takes new units, places them, and delivers, as far as this is possible now.
  void go_on(Instant now, Effects& out) {
    if (left_ || members_.empty()) return;
    if (!told_.installed) tell(out);
    for (bool more = true; more;) {
      place(out);
      const std::uint64_t wanted = wanted_;
      pull();
      more = wanted != wanted_;
      if (more) tell(out);
    }
    deliver(out);
    if (is_busy()) next_tick_ = std::min(next_tick_, now + options_.tick);
    if (delivered_ - told_.delivered > options_.max_gap / 4) tell(out);
  }
  void pull() {
    while (taken_.size() < options_.window && host_.backlog_units() > 0) {
      Unit unit;
      if (!host_.next_unit(packet_bytes_max_ - kDataBytes, unit)) return;
      taken_.push_back(std::move(unit));
      ++wanted_;
    }
  }
  void place(Effects& out) {
    const std::map<std::uint64_t, Seq>& grants = leads() ? peers_[self_.node].grants : grants_;
    for (auto next = grants.find(placed_); next != grants.end(); next = grants.find(placed_)) {
      const Seq seq = next->second;
      Unit unit = std::move(taken_.front());
      taken_.pop_front();
      grants_.erase(placed_++);
      BufferRef packet = unit.bytes;
      packet.grow_front(kDataBytes);
      wire::Writer in(ByteSpan(packet.data(), kDataBytes));
      write_header(Kind::data, in);
      in.u(seq);
      in.u(static_cast<std::uint8_t>(unit.service));
      out.originate(view_, seq);
      out.multicast(Lane::data, packet);
      own_[seq] = std::move(packet);
      store(seq, {self_, unit.service, std::move(unit.bytes)});
    }
  }
  void deliver(Effects& out) {
    while (delivered_ < received_ && host_.receive_room_units() > 0) {
      const auto next = arrived_.find(delivered_ + 1);
      if (next->second.service == Service::safe && stable_ <= delivered_) return;
      Delivery delivery;
      delivery.view = view_;
      delivery.seq = ++delivered_;
      delivery.origin = next->second.origin;
      delivery.service = next->second.service;
      delivery.unit = std::move(next->second.unit);
      arrived_.erase(next);
      out.deliver(delivery);
    }
  }

  const MemberId self_;
  const std::vector<NodeId> nodes_;
  const std::uint64_t cluster_;
  const std::uint32_t packet_bytes_max_;
  const Options options_;
  BufferPool& packets_;
  Host& host_;

  bool left_ = false;
  Instant next_tick_{};
  ViewId view_{};
  std::vector<MemberId> members_;  ///< the members of the installed view
  Seq high_ = 0;                   ///< the highest position known to be granted
  Seq received_ = 0;               ///< all units up to this position have arrived
  Seq received_before_ = 0;        ///< received_ at the last tick
  Seq delivered_ = 0;
  Seq stable_ = 0;  ///< all members have all units up to this position
  std::deque<Unit> taken_;
  std::uint64_t wanted_ = 0, placed_ = 0;
  Status told_;
  std::map<std::uint64_t, Seq> grants_;  ///< by unit number; not used yet
  std::map<Seq, Arrived> arrived_;       ///< units that are not yet delivered
  std::map<Seq, BufferRef> own_;         ///< own packets that a member may lack
  std::uint64_t nacks_ = 0;

  // The state of the sequencer.
  Seq granted_ = 0;
  std::map<NodeId, Peer> peers_;
  std::vector<MemberId> view_members_;

  mutable std::array<Counter, 2> counters_{};
};

std::unique_ptr<Engine> make(const Setup& setup, BufferPool& packets, Host& host) {
  return std::make_unique<SequencerEngine>(setup, packets, host);
}

std::span<const Option> options() {
  static constexpr auto kOptions = order::options_of(kFields);
  return kOptions;
}

Needs needs(const OptionValues& values, std::size_t nodes) {
  const Options options = options_of(values);
  return {.max_gap = options.max_gap,
          .pause = seconds(10),
          .held = 4 * options.max_gap + static_cast<std::uint32_t>(nodes) * options.window,
          .suspect = options.tick * 10,
          .forms = options.tick * 40,
          .remembers = options.tick * 10,
          .idle = options.tick};
}

Result<void, std::string> check(const OptionValues& /*values*/,
                                const std::vector<DomainNodes>& /*domains*/) {
  return {};
}

}  // namespace

constinit const Descriptor kDescriptor{
    .name = "sequencer",
    .summary = "the first node gives out positions; nothing is ordered once a node has failed",
    .traits = {.one_view = true},
    .unit_packets = "sequenced",
    .options = &options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
};

}  // namespace peal::order::sequencer
