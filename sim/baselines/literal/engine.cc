// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/engine.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/digest.h"
#include "order/field.h"
#include "sim/baselines/literal/client.h"
#include "sim/baselines/literal/server.h"

namespace peal::sim::genuine::literal {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::string_view kPublishedNames[] = {"none", "x1",  "x2",  "x3",   "x4",  "x5",
                                                "x6",   "x7",  "x8",  "x9",   "x10", "x11",
                                                "x12",  "x13", "x14", "steps"};

constexpr std::array kLiteralFields{
    order::field<&Options::beat>({.key = "literal.beat_ms",
                                  .least = kMs,
                                  .most = 1'000 * kMs,
                                  .drawn_least = kMs,
                                  .drawn_most = 4 * kMs,
                                  .help = "how often a server tells its domain that it is there"}),
    order::field<&Options::suspect>(
        {.key = "literal.suspect_ms",
         .least = 10 * kMs,
         .most = 60'000 * kMs,
         .drawn_least = 20 * kMs,
         .drawn_most = 80 * kMs,
         .help = "a leader that is not heard for this long is taken for dead"}),
    order::field<&Options::retry>(
        {.key = "literal.retry_ms",
         .least = kMs,
         .most = 10'000 * kMs,
         .drawn_least = 4 * kMs,
         .drawn_most = 40 * kMs,
         .help = "how long to wait for a key before a message is relayed"}),
    order::field<&Options::slots>({.key = "literal.slots",
                                   .least = 2,
                                   .most = 256,
                                   .drawn_least = 2,
                                   .drawn_most = 32,
                                   .help = "messages of one client whose slots are not free"}),
    order::field<&Options::published>({.key = "literal.published",
                                       .words = kPublishedNames,
                                       .help = "which error of the published algorithm is left"}),
    order::field<&Options::packet_bytes_max>({.key = "packet_bytes_max",
                                              .least = 512,
                                              .most = wire::kPacketBytesMax,
                                              .drawn_least = 512,
                                              .drawn_most = 2'000,
                                              .internal = true,
                                              .help = "largest datagram in bytes"}),
    order::field<&Options::max_gap>({.key = "max_gap",
                                     .least = 1,
                                     .most = 1 << 16,
                                     .internal = true,
                                     .help = "messages by which a server may lag"}),
};

Options literal_options_of(const order::OptionValues& values) {
  Options options;
  order::read_options<Options>(values, kLiteralFields, options);
  return options;
}

std::span<const order::Option> all_literal_options() {
  static constexpr auto kOptions = order::options_of(kLiteralFields);
  return kOptions;
}

/// Bytes of a slot or a relay that are not the unit.
constexpr std::uint32_t kAroundUnit =
    static_cast<std::uint32_t>(wire::kHeaderBytes) + head_bytes(kDomainMax) + 64;

class LiteralEngine final : public order::Engine {
 public:
  LiteralEngine(const order::Setup& setup, BufferPool& packets, order::Host& host)
      : layout_(setup),
        options_(literal_options_of(setup.options)),
        post_(setup, packets),
        places_(layout_, options_, setup.list.nodes),
        links_(layout_, options_, post_, *setup.memory, places_),
        host_(host),
        client_(layout_, options_, places_, post_, links_, host,
                setup.packet_bytes_max - kAroundUnit) {
    if (layout_.domain_of(setup.self.node) != 0) {
      server_.emplace(layout_, options_, places_, post_, links_, setup.first_count >> 4);
    }
  }

  void start(Instant now, order::Effects& out) override { on_timer(now, out); }

  void on_packet(Instant now, Lane /*lane*/, const BufferRef& packet,
                 order::Effects& out) override {
    if (left_) return;
    now_ = now;
    const std::optional<Frame> frame = open_frame(packet.view(), post_.cluster());
    if (!frame || frame->sender.node == post_.self().node) return;
    if (static_cast<Kind>(frame->kind) == Kind::hello) {
      links_.on_hello(now, *frame, out);
    } else if (server_) {
      server_->on_frame(now, *frame, out);
    }
    go_on(now, out);
  }
  void on_memory(Instant now, order::Effects& out) override {
    now_ = now;
    if (!left_) go_on(now, out);
  }
  void on_timer(Instant now, order::Effects& out) override {
    if (left_) return;
    now_ = now;
    links_.tick(now, out);
    if (server_ && now >= next_tick_) {
      next_tick_ = now + options_.beat;
      server_->tick(now, out);
    }
    go_on(now, out);
  }
  void on_work(Instant now, order::Effects& out) override { on_memory(now, out); }
  void on_pause(Instant now, Duration /*gap*/, order::Effects& /*out*/) override {
    if (server_) server_->on_pause(now);
  }
  void on_drained(Instant now, order::Effects& /*out*/) override {
    if (server_) server_->on_pause(now);
  }
  void leave(Instant /*now*/, order::Effects& /*out*/) override { left_ = true; }

  std::optional<Instant> next_deadline() const override {
    if (left_) return std::nullopt;
    std::optional<Instant> next = links_.next_deadline();
    if (server_ && (!next || next_tick_ < *next)) next = next_tick_;
    return next;
  }
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return post_.self(); }
  order::WaitReason why() const override {
    const bool waits = !client_.sender().under_way().empty();
    if (server_) return server_->why(now_, waits);
    if (!waits) return {};
    order::WaitReason why;
    why.kind = &order::wait::coordinator;
    for (const DomainId domain : client_.sender().under_way().front().head.to) {
      why.all.push_back({layout_.nodes(domain).front(), 0});
    }
    why.who = why.all.front();
    return why;
  }
  std::span<const order::Counter> counters() const override {
    counters_ = {{{"units_sent", client_.sender().taken()},
                  {"literal_round", server_ ? count_of(server_->standing().current) : 0},
                  {"literal_leading", server_ && server_->standing().leads ? 1U : 0U},
                  {"literal_takeovers", server_ ? server_->takeovers() : 0}}};
    return counters_;
  }
  void check_invariants() const override {
    if (server_) server_->check_invariants();
  }
  std::uint64_t digest() const override {
    Digest digest;
    digest.add(client_.sender().taken());
    if (server_) {
      digest.add(server_->store().clock());
      digest.add(server_->standing().promised);
      digest.add(server_->standing().delivered);
    }
    return digest.value();
  }

 private:
  void go_on(Instant now, order::Effects& out) {
    do {
      if (server_) {
        server_->go_on(now, host_, client_.sender(), out);
        // The node takes back the units that its engine took before it installed its view.
        if (!server_->is_installed()) return;
        client_.note_released(server_->own_released(now));
      } else {
        finish_writes();
      }
      client_.read(out);
    } while (client_.pull(now, server_ ? server_->delivered() : 0,
                          [&](const Head& head, ByteView unit) { server_->put_own(head, unit); }));
  }
  void finish_writes() {
    port::WriteDone done;
    while (links_.next_done(done)) {
    }
  }

  const Layout layout_;
  const Options options_;
  Post post_;
  const Places places_;
  Links links_;
  order::Host& host_;
  Client client_;
  std::optional<Server> server_;
  Instant now_{};
  Instant next_tick_{};
  bool left_ = false;
  mutable std::array<order::Counter, 4> counters_{};
};

order::Needs literal_needs(const order::OptionValues& values, std::size_t nodes) {
  const Options options = literal_options_of(values);
  const auto under_way = static_cast<std::uint32_t>(nodes) * options.slots;
  return {.max_gap = std::max(options.max_gap, under_way),
          .pause = options.suspect / 2,
          .own_packets = under_way,
          .memory = true,
          .around_unit = kAroundUnit,
          .held = under_way + static_cast<std::uint32_t>(nodes),
          .suspect = options.suspect,
          .forms = options.dead() * 2 + options.retry * 16,
          .remembers = options.suspect * 4,
          .idle = options.beat,
          .slower = 4};
}

Result<void, std::string> check_literal(const order::OptionValues& values,
                                        const std::vector<order::DomainNodes>& /*domains*/) {
  const Options options = literal_options_of(values);
  if (options.suspect < options.beat * 4) {
    return unexpected(
        std::string("literal.suspect_ms: accepted is 4 times literal.beat_ms or more"));
  }
  return {};
}

std::unique_ptr<order::Engine> make_literal(const order::Setup& setup, BufferPool& packets,
                                            order::Host& host) {
  return std::make_unique<LiteralEngine>(setup, packets, host);
}

// ---- what the simulator knows of the packets and the writes ----

constexpr order::PacketName named(Kind kind, std::string_view name, bool carries_units = false) {
  return {number(kind), name, carries_units};
}
constexpr order::PacketName kLiteralPackets[] = {
    named(Kind::beat, "beat"),  named(Kind::relay, "multicast", true),
    named(Kind::pull, "stamp"), named(Kind::new_leader, "new_leader"),
    named(Kind::part, "part"),  named(Kind::hello, "literal_hello")};

order::PacketContent literal_content_of(const order::InspectedPacket& packet) {
  const auto kind = static_cast<Kind>(packet.kind);
  order::PacketContent content;
  content.takes_over = kind == Kind::new_leader || kind == Kind::part;
  return content;
}

void add_literal_units(const order::InspectedPacket& packet, std::vector<order::UnitName>& out) {
  const auto kind = static_cast<Kind>(packet.kind);
  if (kind == Kind::relay || kind == Kind::pull) add_unit(packet.bytes, out);
  if (kind == Kind::hello) out.push_back({});  // a message of both nodes, whoever sends it
}

void add_units_of_write(const order::InspectedWrite& write, const order::ClusterShape& /*cluster*/,
                        std::vector<order::UnitName>& out) {
  wire::ByteReader in(write.bytes);
  in.skip(kRecordHead);
  order::UnitName unit;
  unit.sender = wire::read_member(in);
  unit.number = in.u<std::uint64_t>();
  if (!in.failed()) out.push_back(unit);
}

}  // namespace

constinit const order::Descriptor kDescriptor{
    .name = "literal",
    .summary = "RamCast as published, with its errors as a choice; only simulated",
    .traits = {.quorum = true, .genuine = true, .crash_stop = true},
    .unit_packets = "multicast",
    .options = &all_literal_options,
    .needs = &literal_needs,
    .validate = &check_literal,
    .make = &make_literal,
};

constinit const order::Inspection kInspection{.engine = "literal",
                                              .packets = kLiteralPackets,
                                              .content = &literal_content_of,
                                              .units = &add_literal_units,
                                              .units_of_write = &add_units_of_write};

}  // namespace peal::sim::genuine::literal
