// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/engine.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/digest.h"
#include "order/common_options.h"
#include "order/field.h"
#include "sim/baselines/whitebox/server.h"

namespace peal::sim::genuine::whitebox {
namespace {

constexpr std::int64_t kMs = 1'000'000;

constexpr std::array kFields{
    order::field<&Options::beat>({.key = "whitebox.beat_ms",
                                  .least = kMs,
                                  .most = 1'000 * kMs,
                                  .drawn_least = 2 * kMs,
                                  .drawn_most = 10 * kMs,
                                  .help = "how often a server tells its domain that it is there"}),
    order::field<&Options::suspect>(
        {.key = "whitebox.suspect_ms",
         .least = 10 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 60 * kMs,
         .drawn_most = 300 * kMs,
         .help = "a server that is not heard for this long is taken for dead"}),
    order::field<&Options::retry>({.key = "whitebox.retry_ms",
                                   .least = kMs,
                                   .most = 10'000 * kMs,
                                   .drawn_least = 4 * kMs,
                                   .drawn_most = 40 * kMs,
                                   .help = "how long to wait for an answer before asking again"}),
    order::field<&Options::window>({.key = "whitebox.window",
                                    .least = 1,
                                    .most = 1'024,
                                    .drawn_least = 1,
                                    .drawn_most = 128,
                                    .help = "units that one node may have under way"}),
    order::field<&Options::retain>(
        {.key = "whitebox.retain",
         .least = 16,
         .most = 1 << 20,
         .help = "ordered messages that a server retains for servers that lag"}),
    order::field<&Options::packet_bytes_max>(
        order::packet_bytes_option(256, wire::kPacketBytesMax)),
    order::field<&Options::max_gap>({.key = "max_gap",
                                     .least = 1,
                                     .most = 1 << 16,
                                     .internal = true,
                                     .help = "messages by which a server may lag"}),
};

Options options_of(const order::OptionValues& values) {
  Options options;
  order::read_options<Options>(values, kFields, options);
  return options;
}

std::span<const order::Option> all_options() {
  static constexpr auto kOptions = order::options_of(kFields);
  return kOptions;
}

class Engine final : public order::Engine {
 public:
  Engine(const order::Setup& setup, BufferPool& packets, order::Host& host)
      : layout_(setup),
        options_(options_of(setup.options)),
        post_(setup, packets),
        host_(host),
        sender_(layout_, setup.self,
                {options_.window, setup.packet_bytes_max - beside_unit(layout_.count()),
                 options_.retry}) {
    for (const DomainId domain : layout_.all()) hints_[domain] = layout_.nodes(domain).front();
    if (layout_.domain_of(setup.self.node) != 0) {
      server_.emplace(layout_, options_, post_, setup.first_count >> 4);
    }
  }

  void start(Instant now, order::Effects& out) override { on_timer(now, out); }

  void on_packet(Instant now, Lane /*lane*/, const BufferRef& packet,
                 order::Effects& out) override {
    if (left_) return;
    now_ = now;
    const std::optional<Frame> frame = open_frame(packet.view(), post_.cluster());
    if (!frame || frame->sender.node == post_.self().node) return;
    on_frame(now, *frame, out);
    go_on(now, out);
  }

  void on_timer(Instant now, order::Effects& out) override {
    if (left_) return;
    now_ = now;
    if (server_ && now >= next_tick_) {
      next_tick_ = now + options_.beat;
      server_->tick(now, out);
    }
    sender_.retry(now, [&](const Sender::UnderWay& unit) { send(unit, true, out); });
    go_on(now, out);
  }
  void on_work(Instant now, order::Effects& out) override {
    now_ = now;
    if (!left_) go_on(now, out);
  }
  void on_pause(Instant now, Duration /*gap*/, order::Effects& /*out*/) override {
    if (server_) server_->on_pause(now);
  }
  void on_drained(Instant now, order::Effects& /*out*/) override {
    if (server_) server_->on_pause(now);
  }
  void leave(Instant /*now*/, order::Effects& /*out*/) override { left_ = true; }

  std::optional<Instant> next_deadline() const override {
    if (left_) return std::nullopt;
    std::optional<Instant> next = sender_.next_deadline();
    if (server_ && (!next || next_tick_ < *next)) next = next_tick_;
    return next;
  }
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return post_.self(); }
  order::WaitReason why() const override {
    const bool waits = !sender_.under_way().empty();
    if (server_) return server_->why(now_, waits);
    if (!waits) return {};
    order::WaitReason why;
    why.kind = &order::wait::coordinator;
    for (const DomainId domain : sender_.under_way().front().head.to) {
      why.all.push_back({hints_[domain], 0});
    }
    why.who = why.all.front();
    return why;
  }
  std::span<const order::Counter> counters() const override {
    counters_ = {{{"whitebox_units_taken", sender_.taken()},
                  {"whitebox_ordered", server_ ? server_->store().tip() : 0},
                  {"whitebox_ballot", server_ ? count_of(server_->rounds().current) : 0},
                  {"whitebox_leading", server_ && server_->rounds().leading ? 1U : 0U},
                  {"whitebox_takeovers", server_ ? server_->takeovers() : 0}}};
    return counters_;
  }
  void check_invariants() const override {
    PEAL_ASSERT(sender_.under_way().size() <= options_.window);
    if (server_) server_->check_invariants();
  }
  std::uint64_t digest() const override {
    Digest digest;
    digest.add(sender_.taken());
    if (server_) {
      digest.add(server_->store().tip());
      digest.add(server_->store().clock());
      digest.add(server_->rounds().promised);
      digest.add(server_->rounds().current);
    }
    return digest.value();
  }

 private:
  void on_frame(Instant now, const Frame& frame, order::Effects& out) {
    if (static_cast<Kind>(frame.kind) == Kind::reply) {
      Reply reply;
      if (!read(frame.body, reply) || reply.sender != post_.self()) return;
      const DomainId domain = layout_.domain_of(frame.sender.node);
      if (domain != 0) hints_[domain] = frame.sender.node;
      return sender_.told(reply.number, reply.key, out);
    }
    if (static_cast<Kind>(frame.kind) == Kind::accept) {
      const DomainId domain = layout_.domain_of(frame.sender.node);
      if (domain != 0) hints_[domain] = frame.sender.node;
    }
    if (server_) server_->on_frame(now, frame, out);
  }

  /// Handles the packets of this node to itself, delivers, and takes new units.
  void go_on(Instant now, order::Effects& out) {
    do {
      while (!post_.own().empty()) {
        const std::vector<std::byte> bytes = std::move(post_.own().front());
        post_.own().pop_front();
        if (const auto frame = open_frame(bytes, post_.cluster())) on_frame(now, *frame, out);
      }
      if (server_) server_->go_on(now, host_, sender_, out);
      // The node takes back the units that its engine took before it installed its view.
      if (server_ && !server_->is_installed()) return;
      const Key delivered = server_ ? server_->delivered() : 0;
      sender_.pull(now, host_, delivered,
                   [&](const Sender::UnderWay& unit) { send(unit, false, out); });
    } while (!post_.own().empty());
  }

  /// Sends the unit to the leaders that are known, or to all servers of its domains.
  void send(const Sender::UnderWay& unit, bool to_all, order::Effects& out) {
    const Multicast multicast{unit.head, false, unit.unit.view()};
    const auto write_it = [&](wire::Writer& in) { write(in, multicast); };
    for (const DomainId domain : unit.head.to) {
      if (server_ && domain == layout_.domain_of(post_.self().node) && server_->is_installed()) {
        hints_[domain] = server_->leader();
      }
      for (const NodeId node : layout_.nodes(domain)) {
        if (!to_all && node != hints_[domain]) continue;
        post_.send(out, node, number(Kind::multicast), Lane::data, write_it);
      }
    }
  }

  const Layout layout_;
  const Options options_;
  Post post_;
  order::Host& host_;
  Sender sender_;
  std::optional<Server> server_;
  std::array<NodeId, kDomainMax + 1> hints_{};  ///< by domain: who is believed to lead it
  Instant now_{};
  Instant next_tick_{};
  bool left_ = false;
  mutable std::array<order::Counter, 5> counters_{};
};

order::Needs needs(const order::OptionValues& values, std::size_t nodes) {
  const Options options = options_of(values);
  const Options usual;
  const double slower =
      static_cast<double>(options.suspect.ns) / static_cast<double>(usual.suspect.ns);
  return {.max_gap = options.max_gap,
          .pause = options.suspect / 2,
          .own_packets = options.max_gap,
          .held = options.window + static_cast<std::uint32_t>(nodes),
          .suspect = options.suspect,
          .forms = options.suspect * 4 + options.retry * 16,
          .remembers = options.suspect * 4,
          .idle = options.beat,
          .slower = std::max(1.0, slower)};
}

Result<void, std::string> check(const order::OptionValues& values,
                                const std::vector<order::DomainNodes>& domains) {
  const Options options = options_of(values);
  if (options.suspect < options.beat * 4) {
    return unexpected(
        std::string("whitebox.suspect_ms: accepted is 4 times whitebox.beat_ms or "
                    "more"));
  }
  std::size_t members = 0;
  for (const order::DomainNodes& each : domains) members = std::max(members, each.nodes.size());
  const std::uint32_t least =
      std::max(without_unit(domains.size(), members), beside_unit(domains.size()) + 64);
  if (options.packet_bytes_max < least) {
    return unexpected("packet_bytes_max: with these domains, accepted is " + std::to_string(least) +
                      " or more");
  }
  return {};
}

std::unique_ptr<order::Engine> make(const order::Setup& setup, BufferPool& packets,
                                    order::Host& host) {
  return std::make_unique<Engine>(setup, packets, host);
}

// ---- what the simulator knows of the packets ----

constexpr order::PacketName named(Kind kind, std::string_view name, bool carries_units = false) {
  return {number(kind), name, carries_units};
}
constexpr order::PacketName kPackets[] = {
    named(Kind::beat, "beat"),
    named(Kind::multicast, "multicast", true),
    named(Kind::accept, "accept", true),
    named(Kind::ack, "ack"),
    named(Kind::deliver, "deliver"),
    named(Kind::entry, "entry", true),
    named(Kind::fetch, "fetch_entry"),
    named(Kind::reply, "reply"),
    named(Kind::new_leader, "new_leader"),
    named(Kind::part, "part"),
    named(Kind::get, "part_get"),
};

order::PacketContent content_of(const order::InspectedPacket& packet) {
  const auto kind = static_cast<Kind>(packet.kind);
  order::PacketContent content;
  content.takes_over = kind == Kind::new_leader || kind == Kind::part;
  return content;
}

void add_units(const order::InspectedPacket& packet, std::vector<order::UnitName>& out) {
  const auto kind = static_cast<Kind>(packet.kind);
  const bool names = kind == Kind::multicast || kind == Kind::accept || kind == Kind::ack ||
                     kind == Kind::deliver || kind == Kind::entry || kind == Kind::reply;
  if (names) add_unit(packet.bytes, out);
}

}  // namespace

constinit const order::Descriptor kDescriptor{
    .name = "whitebox",
    .summary = "white-box atomic multicast to sets of domains, by packets; only simulated",
    .traits = {.quorum = true, .genuine = true, .crash_stop = true},
    .unit_packets = "accept",
    .options = &all_options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
};

constinit const order::Inspection kInspection{
    .engine = "whitebox", .packets = kPackets, .content = &content_of, .units = &add_units};

}  // namespace peal::sim::genuine::whitebox
