// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "order/paxos/catch_up.h"
#include "order/paxos/checkpointer.h"
#include "order/paxos/consumer.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/diagnosis.h"
#include "order/paxos/early.h"
#include "order/paxos/early_units.h"
#include "order/paxos/election.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/given_list.h"
#include "order/paxos/history.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/learner.h"
#include "order/paxos/link_watch.h"
#include "order/paxos/own_units.h"
#include "order/paxos/reconfiguration.h"
#include "order/paxos/self_report.h"
#include "order/paxos/state_transfer.h"
#include "order/paxos/vote_recall.h"
#include "order/paxos/voter.h"
#include "paxos_bench.h"
#include "wire/headroom.h"
#include "wire/packet.h"

namespace peal::order::paxos::test {

/// The merger that one ensemble calls. The test determines its answers.
class OneMerger final : public Merger {
 public:
  void on_key(std::uint64_t key, bool nothing) override {
    keys.push_back(nothing ? "(" + std::to_string(key) + ")" : std::to_string(key));
  }
  void on_left_out() override { ++left_out; }
  void on_excluded(std::span<const MemberId> members) override {
    excluded.assign(members.begin(), members.end());
  }
  bool exclusions_ahead() const override { return ahead; }
  bool needs_all() const override { return needs; }
  std::uint64_t merged() const override { return merged_key; }
  bool has_room() const override { return room; }
  void on_pass_wanted(std::uint64_t /*key*/) override {}
  std::vector<NodeList> parts(const NodeList& /*list*/) const override { return {}; }
  bool in_company_of_all(NodeId /*node*/) const override { return true; }
  bool fit_for_all() const override { return true; }
  bool disk_hangs() const override { return hangs; }

  std::vector<std::string> keys;
  int left_out = 0;
  std::vector<MemberId> excluded;
  bool ahead = false;
  bool needs = false;
  bool room = true;
  bool hangs = false;
  std::uint64_t merged_key = 0;
};

/// The classes of the engine of kOne, created and connected as in the engine. Only the test calls
/// them. It plays the engine, the other nodes, the host and the disk.
class PartsBench : public Host, public Effects {
 public:
  struct Sent {
    NodeId to{};  ///< the receiver; 0: all nodes
    Lane lane{};
    wire::PaxosKind kind{};
    BufferRef packet;
  };

  explicit PartsBench(const Options& options = {}, Merger* merger = nullptr)
      : config(make_config(options, merger)),
        state(nodes_of({1, config.universe, config.acceptors})),
        given({1, config.universe, config.acceptors}, join_lag(options)),
        peers(kOne, kLog, options, link_rhythm(merger != nullptr)),
        store(512, 1U << 20),
        kept(1U << 16),
        outbox(config, pool),
        routes(make_broadcast({config, peers, store, state, outbox})),
        acceptor(disk),
        early(options.optimistic ? std::optional<Early>(std::in_place, options) : std::nullopt),
        parts{config,
              *this,
              peers,
              store,
              state,
              given,
              &acceptor,
              kept,
              outbox,
              *routes,
              early ? &*early : nullptr},
        coordinator(parts),
        history(parts),
        checkpointer(parts, history),
        incarnations(parts, checkpointer),
        links(parts),
        election(parts, &coordinator),
        learner(parts),
        early_units(parts, &coordinator),
        own_units(parts, election, &coordinator, early_units),
        consumer(parts, own_units, early_units),
        catch_up(parts, election, learner, incarnations),
        recall(parts, learner, history, incarnations),
        transfer(parts, catch_up, recall, incarnations),
        reconfiguration(parts, given),
        report_of_self(parts,
                       {&coordinator, incarnations, links, election, learner, consumer, catch_up}),
        voter(parts, incarnations, election, history, report_of_self),
        diagnosis(parts, {&coordinator, incarnations, links, election, consumer}) {
    reconfiguration.know_nodes();
    peers.start(now);
  }
  ~PartsBench() override { sent.clear(); }

  /// The log has the checkpoint of an order in which nothing is decided. The other acceptors
  /// confirm that the log is not an older copy.
  void know_order() {
    Record record;
    record.kind = Record::Kind::checkpoint;
    record.instance = 1;
    record.state.next = 1;
    record.state.nodes = first_nodes();
    Bytes bytes;
    write_record(record, bytes);
    PEAL_ASSERT(disk.checkpoint(bytes, LogPosition{1}).has_value());
    disk.sync();
    PEAL_ASSERT(acceptor.replay(pool, store, kept, state));
    reconfiguration.know_nodes();
    checkpointer.start();
    incarnations.start();
    PEAL_ASSERT(incarnations.open());
    disk.sync();
    for (const MemberId& each : {kTwo, kThree}) answer_about_log(each);
    consumer.begin();
    sent.clear();
  }
  /// Like know_order(); then instance 1 is decided: view 1 of `members`.
  void be_in_view(const std::vector<MemberId>& members = {kOne, kTwo, kThree}) {
    know_order();
    std::vector<wire::ViewMember> all;
    for (const MemberId& each : members) all.push_back({each, 0});
    decide_view(1, all);
    disk.sync();
    sent.clear();
    log.clear();
    events.clear();
  }
  /// An acceptor answers that it heard nothing of this node's log.
  void answer_about_log(const MemberId& from) {
    ignore(incarnations.on_log_heard(
               *peers.find(from.node),
               packet(from,
                      [&](const wire::Header& header, ByteSpan out) {
                        return wire::encode_log_answer(header, {config.self.epoch, kLog, {}}, out);
                      })),
           "the bench wrote it");
  }
  /// A node is alive and has sent the STATE `said`. If fields of `said` about the order are 0, they
  /// get the values of this node.
  Peer& hear(const MemberId& from, wire::State said = {}) {
    Peer& peer = *peers.find(from.node);
    EXPECT_TRUE(peers.note(now, peer, from));
    if (said.next == 0) said.next = state.next();
    if (said.first_list == 0) said.first_list = state.nodes().first;
    if (said.life == 0) said.life = kLog;
    peers.note_state(peer, said);
    return peer;
  }
  /// This node hears both other nodes, and so all three should be in one view.
  void hear_all() {
    for (const MemberId& each : {kTwo, kThree}) hear(each);
    look();
  }
  /// Calls the classes that watch other nodes, as a heartbeat of the engine does.
  void look() {
    links.look(now);
    election.look(now, links.company().fitness());
    report_of_self.update();
  }
  BufferRef bytes(std::string_view text) {
    BufferRef out = pool.take(static_cast<std::uint32_t>(wire::kUnitHeadroomBytes),
                              static_cast<std::uint32_t>(text.size()));
    std::copy_n(bytes_of(text).data(), text.size(), out.data());
    return out;
  }
  /// A packet of the node `from`.
  template <class Encode>
  BufferRef packet(const MemberId& from, Encode encode) {
    wire::Header header;
    header.cluster = config.cluster;
    header.sender = from;
    BufferRef out = pool.take();
    const std::size_t size = encode(header, ByteSpan{out.data(), out.size()});
    EXPECT_NE(size, 0U);
    out.truncate(static_cast<std::uint32_t>(size));
    return out;
  }
  /// The value is decided in the next instance, and this node consumes the value.
  OrderState::Outcome decide(const wire::ValueHead& head, const BufferRef& value) {
    Slot* slot = store.make(state.next());
    slot->decided = true;
    slot->heard = {head, value};
    if (!checkpointer.note(*slot)) return OrderState::Outcome::ignored;
    const bool member = parts.joined();
    const OrderState::Outcome outcome = consumer.apply({head, value});
    store.consume();
    if (outcome == OrderState::Outcome::unit) consumer.deliver(now, {head, value}, member, *this);
    if (outcome == OrderState::Outcome::view) consumer.change_view(*this);
    return outcome;
  }
  OrderState::Outcome decide_unit(const MemberId& from, std::uint64_t number,
                                  std::string_view text = "unit") {
    return decide(unit_head(from, number, state.view().number), bytes(text));
  }
  OrderState::Outcome decide_view(std::uint64_t number,
                                  const std::vector<wire::ViewMember>& members) {
    const Bytes encoded = view_bytes(members);
    return decide(view_head(kOne, number), bytes(as_text(encoded)));
  }

  /// The receiver of each sent packet of this kind; 0: all nodes.
  std::vector<std::uint32_t> sent_to(wire::PaxosKind kind) const {
    std::vector<std::uint32_t> to;
    for (const Sent& each : sent) {
      if (each.kind == kind) to.push_back(each.to.value);
    }
    return to;
  }
  const Sent* last(wire::PaxosKind kind) const {
    const auto at = std::find_if(sent.rbegin(), sent.rend(),
                                 [kind](const Sent& each) { return each.kind == kind; });
    return at == sent.rend() ? nullptr : &*at;
  }

  // Overrides of Host and Effects.
  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue.size()); }
  bool next_unit(std::uint32_t /*unit_bytes_max*/, Unit& out) override {
    if (queue.empty()) return false;
    out.bytes = bytes(queue.front());
    queue.erase(queue.begin());
    return true;
  }
  std::uint32_t receive_room_units() const override { return room; }
  void send(NodeId to, Lane lane, const BufferRef& out) override {
    wire::Header read;
    PEAL_ASSERT(wire::decode_header(out.view(), read, wire::Checksum::present) == wire::Drop::none);
    sent.push_back({to, lane, static_cast<wire::PaxosKind>(read.kind), out});
  }
  void multicast(Lane lane, const BufferRef& out) override { send({}, lane, out); }
  void originate(const ViewId& /*view*/, Seq seq) override {
    log.push_back("own " + std::to_string(seq));
  }
  void deliver(const Delivery& d) override {
    log.push_back(std::to_string(d.seq) + ":" + std::string(as_text(d.unit.view())));
  }
  void opt_deliver(const Delivery& d) override {
    log.push_back("early " + std::to_string(d.seq) + ":" + std::string(as_text(d.unit.view())));
  }
  void install(const View& view) override {
    std::string line =
        (view.transitional ? "trans " : "view ") + std::to_string(view.id.number) + " ";
    for (const MemberId& each : view.members) line += std::to_string(each.node.value);
    log.push_back(line);
  }
  void report(const Event& event) override { events.push_back(event); }
  void fatal(std::string_view /*reason*/) override { log.emplace_back("fatal"); }
  std::string told() const {
    std::string text;
    for (const std::string& line : log) text += (text.empty() ? "" : ", ") + line;
    return text;
  }

  Instant now{1'000'000'000};
  std::vector<std::string> queue;  ///< units that wait in the host
  std::uint32_t room = 1'024;
  std::vector<Sent> sent;
  std::vector<std::string> log;
  std::vector<Event> events;
  MemoryLog disk;
  BufferPool pool{2'048, 4'096};

  Config config;
  OrderState state;
  GivenList given;
  Peers peers;
  Store store;
  KeptWords kept;
  Outbox outbox;
  std::unique_ptr<Routes> routes;
  Acceptor acceptor;
  std::optional<Early> early;
  const Parts parts;
  Coordinator coordinator;
  History history;
  Checkpointer checkpointer;
  Incarnations incarnations;
  LinkWatch links;
  Election election;
  Learner learner;
  EarlyUnits early_units;
  OwnUnits own_units;
  Consumer consumer;
  CatchUp catch_up;
  VoteRecall recall;
  StateTransfer transfer;
  Reconfiguration reconfiguration;
  SelfReport report_of_self;
  Voter voter;
  const Diagnosis diagnosis;

 private:
  Config make_config(const Options& options, Merger* merger) {
    Config out;
    out.self = kOne;
    out.universe = out.acceptors = {kOne.node, kTwo.node, kThree.node};
    out.cluster = 7;
    out.options = options;
    out.log = &disk;
    out.merger = merger;
    return out;
  }
};

}  // namespace peal::order::paxos::test
