// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/skeen/engine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/digest.h"
#include "order/common_options.h"
#include "order/field.h"
#include "sim/baselines/roster.h"
#include "sim/baselines/sender.h"

namespace peal::sim::genuine::skeen {
namespace {

enum class Kind : std::uint8_t {
  beat = 240,     ///< the members of a domain
  reply = 247,    ///< a message's key, for a sender outside its domains
  message = 251,  ///< a unit, to all servers of its domains
  stamp,          ///< what one server proposes
};
constexpr std::uint8_t number(Kind kind) { return static_cast<std::uint8_t>(kind); }

constexpr std::int64_t kMs = 1'000'000;

struct Options {
  Duration retry = milliseconds(20);
  std::uint32_t window = 64;
  std::uint32_t retain = 65'536;
  std::uint32_t packet_bytes_max = 1'400;
  std::uint32_t max_gap = 1'024;
};
constexpr std::array kFields{
    order::field<&Options::retry>({.key = "skeen.retry_ms",
                                   .least = kMs,
                                   .most = 10'000 * kMs,
                                   .drawn_least = 4 * kMs,
                                   .drawn_most = 40 * kMs,
                                   .help = "how long to wait for an answer before asking again"}),
    order::field<&Options::window>({.key = "skeen.window",
                                    .least = 1,
                                    .most = 1'024,
                                    .drawn_least = 1,
                                    .drawn_most = 128,
                                    .help = "units that one node may have under way"}),
    order::field<&Options::retain>({.key = "skeen.retain",
                                    .least = 16,
                                    .most = 1 << 20,
                                    .help = "delivered messages whose stamps a server remembers"}),
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

constexpr Key stamp_of(std::uint64_t clock, NodeId node) { return clock << 16 | node.value; }
constexpr std::uint64_t clock_of(Key key) { return key >> 16; }

/// A message at a server.
struct Message {
  Head head;
  Body body;  ///< null: the unit is not here
  std::map<NodeId, Key> stamps;
  Key lowest = 0;  ///< the key is not below: the own stamp, then the key; 0: no own stamp yet
  bool has_key = false;
  Instant retry_at{};
};
/// The messages of one incarnation of a sender, by their index for this domain.
struct Stream {
  std::uint64_t stamped = 0;  ///< all messages up to this index have stamps of this server
  std::map<std::uint64_t, Message> open;
};

class Engine final : public order::Engine {
 public:
  Engine(const order::Setup& setup, BufferPool& packets, order::Host& host)
      : layout_(setup),
        options_(options_of(setup.options)),
        post_(setup, packets),
        host_(host),
        roster_(layout_, setup.self),
        sender_(layout_, setup.self,
                {options_.window,
                 setup.packet_bytes_max - static_cast<std::uint32_t>(wire::kHeaderBytes) -
                     head_bytes(layout_.count()),
                 options_.retry}),
        clock_(setup.first_count >> 16) {}

  void start(Instant now, order::Effects& out) override { on_timer(now, out); }
  void on_packet(Instant now, Lane /*lane*/, const BufferRef& packet,
                 order::Effects& out) override {
    const std::optional<Frame> frame = open_frame(packet.view(), post_.cluster());
    if (left_ || !frame || frame->sender.node == post_.self().node) return;
    on_frame(now, *frame, out);
    go_on(now, out);
  }
  void on_timer(Instant now, order::Effects& out) override {
    if (left_) return;
    if (now >= next_tick_) {
      next_tick_ = now + options_.retry;
      if (beats_left_ > 0) send_beats(out);
      retry(now, out);
    }
    sender_.retry(now, [&](const Sender::UnderWay& unit) { send(unit, out); });
    go_on(now, out);
  }
  void on_work(Instant now, order::Effects& out) override {
    if (!left_) go_on(now, out);
  }
  void on_pause(Instant /*now*/, Duration /*gap*/, order::Effects& /*out*/) override {}
  void on_drained(Instant /*now*/, order::Effects& /*out*/) override {}
  void leave(Instant /*now*/, order::Effects& /*out*/) override { left_ = true; }

  std::optional<Instant> next_deadline() const override {
    std::optional<Instant> next = sender_.next_deadline();
    const bool ticks = roster_.domain() != 0 && (beats_left_ > 0 || !lowest_.empty());
    if (ticks && (!next || next_tick_ < *next)) next = next_tick_;
    return left_ ? std::nullopt : next;
  }
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return post_.self(); }
  order::WaitReason why() const override {
    if (!installed_ && roster_.domain() != 0) return {.kind = &order::wait::gathering};
    if (lowest_.empty()) return {};
    return {.kind = &order::wait::packet, .seq = lowest_.begin()->first};
  }
  std::span<const order::Counter> counters() const override {
    counters_ = {{{"skeen_units_taken", sender_.taken()}, {"skeen_delivered", delivered_count_}}};
    return counters_;
  }
  void check_invariants() const override {
    PEAL_ASSERT(remembered_.size() <= options_.retain && order_.size() == remembered_.size());
  }
  std::uint64_t digest() const override {
    Digest digest;
    digest.add(clock_);
    digest.add(sender_.taken());
    digest.add(delivered_count_);
    return digest.value();
  }

 private:
  using Name = std::pair<MemberId, std::uint64_t>;  ///< a message's sender, and its index

  DomainId own() const { return roster_.domain(); }
  Name name_of(const Head& head) const { return {head.sender, head.index[own()]}; }

  // ---- sending ----

  /// Calls visit(node) for all servers of the message's domains.
  template <class Visit>
  void for_servers(const Head& head, Visit visit) const {
    for (const DomainId domain : head.to) {
      for (const NodeId node : layout_.nodes(domain)) visit(node);
    }
  }
  void send_message(NodeId to, const Head& head, ByteView body, order::Effects& out) {
    post_.send(out, to, number(Kind::message), Lane::data, [&](wire::Writer& in) {
      write_head(in, head);
      in.bytes(body);
    });
  }
  void send(const Sender::UnderWay& unit, order::Effects& out) {
    for_servers(unit.head,
                [&](NodeId node) { send_message(node, unit.head, unit.unit.view(), out); });
  }
  void send_stamp(NodeId to, const Head& head, Key stamp, order::Effects& out) {
    post_.send(out, to, number(Kind::stamp), Lane::control, [&](wire::Writer& in) {
      write_head(in, head);
      in.u(stamp);
    });
  }
  void reply(const Head& head, Key key, order::Effects& out) {
    if (head.to.has(layout_.domain_of(head.sender.node))) return;
    post_.send(out, head.sender.node, number(Kind::reply), Lane::control, [&](wire::Writer& in) {
      in.member(head.sender);
      in.u(head.number);
      in.u(key);
    });
  }
  /// Members repeat the beats for a while after they have installed the view: others may not have.
  void send_beats(order::Effects& out) {
    if (installed_) --beats_left_;
    for (const NodeId node : roster_.nodes()) {
      if (node == post_.self().node) continue;
      post_.send(out, node, number(Kind::beat), Lane::control,
                 [&](wire::Writer& in) { roster_.write(in); });
    }
  }
  /// Asks servers whose stamps are missing: whoever has the message answers with its stamp.
  void retry(Instant now, order::Effects& out) {
    for (auto& [sender, stream] : streams_) {
      for (auto& each : stream.open) {
        auto& message = each.second;
        if (message.lowest == 0 || message.has_key || message.retry_at > now) continue;
        message.retry_at = now + options_.retry;
        for_servers(message.head, [&](NodeId node) {
          if (!message.stamps.contains(node)) send_message(node, message.head, *message.body, out);
        });
      }
    }
  }

  // ---- receiving ----

  void on_frame(Instant now, const Frame& frame, order::Effects& out) {
    wire::ByteReader in = frame.body;
    const MemberId& from = frame.sender;
    switch (static_cast<Kind>(frame.kind)) {
      case Kind::beat: {
        const std::vector<MemberId> members = roster_.read(in);
        const bool ours = own() != 0 && layout_.domain_of(from.node) == own();
        if (!in.failed() && ours) roster_.heard(from, members);
        return;
      }
      case Kind::reply: {
        const MemberId sender = wire::read_member(in);
        const auto unit = in.u<std::uint64_t>();
        const Key key = wire::read_counter(in);
        if (!in.failed() && sender == post_.self()) sender_.told(unit, key, out);
        return;
      }
      case Kind::message: {
        const Head head = read_head(in, layout_);
        const ByteView body = in.bytes(in.remaining());
        const bool right = !in.failed() && !body.empty() && head.to.has(own());
        if (right) on_message(now, from.node, head, body, out);
        return;
      }
      case Kind::stamp: {
        const Head head = read_head(in, layout_);
        const Key stamp = wire::read_counter(in);
        const bool right = !in.failed() && head.to.has(own()) &&
                           NodeId{static_cast<std::uint32_t>(stamp & 0xffff)} == from.node;
        if (!right || remembered_.contains(name_of(head))) return;
        Message& message = know(head);
        message.stamps[from.node] = stamp;
        find_key(message);
        return;
      }
    }
  }
  Message& know(const Head& head) {
    const auto [open, fresh] = streams_[head.sender].open.try_emplace(head.index[own()]);
    if (fresh) open->second.head = head;
    return open->second;
  }
  void on_message(Instant now, NodeId from, const Head& head, ByteView body, order::Effects& out) {
    const auto past = remembered_.find(name_of(head));
    if (past != remembered_.end()) {
      if (from != post_.self().node) send_stamp(from, head, past->second.first, out);
      return reply(head, past->second.second, out);
    }
    Stream& stream = streams_[head.sender];
    if (head.index[own()] <= stream.stamped && !stream.open.contains(head.index[own()])) return;
    Message& known = know(head);
    if (known.lowest != 0) return send_stamp(from, head, known.stamps[post_.self().node], out);
    known.body = std::make_shared<const std::vector<std::byte>>(body.begin(), body.end());
    // A server stamps a sender's messages in order.
    for (auto next = stream.open.find(stream.stamped + 1);
         next != stream.open.end() && next->second.body != nullptr;
         next = stream.open.find(stream.stamped + 1)) {
      give_stamp(now, next->second, out);
      ++stream.stamped;
    }
  }
  void give_stamp(Instant now, Message& message, order::Effects& out) {
    clock_ = std::max(clock_, clock_of(message.head.floor)) + 1;
    const Key stamp = stamp_of(clock_, post_.self().node);
    message.lowest = stamp;
    message.retry_at = now + options_.retry;
    message.stamps[post_.self().node] = stamp;
    lowest_.insert({stamp, name_of(message.head)});
    for_servers(message.head, [&](NodeId node) {
      if (node != post_.self().node) send_stamp(node, message.head, stamp, out);
    });
    find_key(message);
  }
  void find_key(Message& message) {
    if (message.lowest == 0 || message.has_key) return;
    bool all = true;
    Key key = 0;
    for_servers(message.head, [&](NodeId node) {
      const auto stamp = message.stamps.find(node);
      all = all && stamp != message.stamps.end();
      if (all) key = std::max(key, stamp->second);
    });
    if (!all) return;
    clock_ = std::max(clock_, clock_of(key));
    lowest_.erase({message.lowest, name_of(message.head)});
    lowest_.insert({key, name_of(message.head)});
    message.lowest = key;
    message.has_key = true;
  }

  // ---- delivering ----

  void go_on(Instant now, order::Effects& out) {
    do {
      while (!post_.own().empty()) {
        const std::vector<std::byte> bytes = std::move(post_.own().front());
        post_.own().pop_front();
        if (const auto frame = open_frame(bytes, post_.cluster())) on_frame(now, *frame, out);
      }
      if (!installed_ && roster_.known() && roster_.is_member(post_.self())) install(out);
      while (installed_ && deliver_one(out)) {
      }
      // The node takes back the units that its engine took before it installed its view.
      if (!installed_ && own() != 0) return;
      sender_.pull(now, host_, delivered_, [&](const Sender::UnderWay& unit) { send(unit, out); });
    } while (!post_.own().empty());
    if (next_tick_ < now) next_tick_ = now + options_.retry;
  }
  void install(order::Effects& out) {
    installed_ = true;
    roster_.install(out);
    send_beats(out);
  }
  /// Delivers the message with the lowest key, if no other message can get a lower one.
  bool deliver_one(order::Effects& out) {
    if (lowest_.empty() || host_.receive_room_units() == 0) return false;
    const Name name = lowest_.begin()->second;
    Stream& stream = streams_[name.first];
    const auto open = stream.open.find(name.second);
    Message& message = open->second;
    if (!message.has_key) return false;
    BufferRef unit = post_.copy(message.body);
    if (!unit) return false;
    const Head& head = message.head;
    const Key key = message.lowest;
    if (head.sender == post_.self()) sender_.place(roster_.view(), head.number, key, out);
    order::Delivery delivery;
    delivery.view = roster_.view();
    delivery.seq = key;
    delivery.origin = head.sender;
    delivery.service = head.service;
    delivery.domains = layout_.to_host(head.to);
    delivery.unit = std::move(unit);
    delivered_ = key;
    ++delivered_count_;
    reply(head, key, out);
    remember(name, {message.stamps[post_.self().node], key});
    lowest_.erase(lowest_.begin());
    stream.open.erase(open);
    out.deliver(delivery);
    return true;
  }
  void remember(const Name& name, const std::pair<Key, Key>& stamp_and_key) {
    remembered_.emplace(name, stamp_and_key);
    order_.push_back(name);
    if (order_.size() <= options_.retain) return;
    remembered_.erase(order_.front());
    order_.pop_front();
  }

  const Layout layout_;
  const Options options_;
  Post post_;
  order::Host& host_;
  Roster roster_;
  Sender sender_;
  std::uint64_t clock_;
  std::map<MemberId, Stream> streams_;
  std::set<std::pair<Key, Name>> lowest_;  ///< of messages with an own stamp: Message::lowest
  std::map<Name, std::pair<Key, Key>> remembered_;  ///< of delivered messages: own stamp, and key
  std::deque<Name> order_;                          ///< the names in `remembered_`, oldest first
  bool installed_ = false;
  bool left_ = false;
  std::uint32_t beats_left_ = 100;
  Key delivered_ = 0;
  std::uint64_t delivered_count_ = 0;
  Instant next_tick_{};
  mutable std::array<order::Counter, 2> counters_{};
};

std::span<const order::Option> all_options() {
  static constexpr auto kOptions = order::options_of(kFields);
  return kOptions;
}

order::Needs needs(const order::OptionValues& values, std::size_t nodes) {
  const Options options = options_of(values);
  return {.max_gap = options.max_gap,
          .pause = seconds(1),
          .own_packets = options.max_gap,
          .held = options.window + static_cast<std::uint32_t>(nodes),
          .suspect = options.retry * 4,
          .forms = options.retry * 16,
          .remembers = options.retry,
          .idle = options.retry};
}

Result<void, std::string> check(const order::OptionValues& /*values*/,
                                const std::vector<order::DomainNodes>& /*domains*/) {
  return {};
}

std::unique_ptr<order::Engine> make(const order::Setup& setup, BufferPool& packets,
                                    order::Host& host) {
  return std::make_unique<Engine>(setup, packets, host);
}

constexpr order::PacketName kPackets[] = {{number(Kind::beat), "beat"},
                                          {number(Kind::reply), "reply"},
                                          {number(Kind::message), "message", true},
                                          {number(Kind::stamp), "stamp"}};

void add_units(const order::InspectedPacket& packet, std::vector<order::UnitName>& out) {
  if (static_cast<Kind>(packet.kind) != Kind::beat) add_unit(packet.bytes, out);
}

}  // namespace

constinit const order::Descriptor kDescriptor{
    .name = "skeen",
    .summary = "Skeen's multicast to sets of domains, without fault tolerance; only simulated",
    .traits = {.quorum = true, .genuine = true, .one_view = true},
    .unit_packets = "message",
    .options = &all_options,
    .needs = &needs,
    .validate = &check,
    .make = &make,
};

constinit const order::Inspection kInspection{
    .engine = "skeen", .packets = kPackets, .units = &add_units};

}  // namespace peal::sim::genuine::skeen
