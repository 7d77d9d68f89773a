// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "order/paxos/ensemble.h"
#include "order/ridge/ensembles.h"
#include "wire/headroom.h"
#include "wire/paxos.h"

namespace peal::order::ridge::test {

/// An ensemble whose behaviour the test determines. It records the calls that it gets.
class FakeEnsemble final : public paxos::Ensemble {
 public:
  using Act = std::function<void(Effects&)>;

  FakeEnsemble(const paxos::Config& its_config, Host& its_host)
      : config(its_config), host(its_host), merger(*its_config.merger) {}

  void start(Instant /*now*/, Effects& out) override { note("start", out); }
  void on_packet(Instant /*now*/, Lane /*lane*/, const BufferRef& /*packet*/,
                 Effects& out) override {
    note("packet", out);
  }
  void on_timer(Instant /*now*/, Effects& out) override { note("timer", out); }
  void on_work(Instant /*now*/, Effects& out) override {
    note("work", out);
    if (takes == 0) return;
    Unit unit;
    while (takes > 0 && host.next_unit(unit_bytes, unit)) {
      --takes;
      taken.push_back(unit);
    }
  }
  void on_durable(Instant /*now*/, Effects& out) override { note("durable", out); }
  void on_pause(Instant /*now*/, Duration gap, Effects& out) override {
    pause = gap;
    note("pause", out);
  }
  void on_drained(Instant /*now*/, Effects& out) override { note("drained", out); }
  void leave(Instant /*now*/, Effects& out) override { note("leave", out); }
  void set_nodes(Instant /*now*/, const NodeList& nodes, Effects& out) override {
    list = nodes;
    note("nodes", out);
  }
  NodesWait nodes_wait() const override { return wait; }
  std::optional<Instant> next_deadline() const override { return deadline; }
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return config.self; }
  WaitReason why() const override { return {}; }
  std::span<const Counter> counters() const override { return {}; }
  void check_invariants() const override {}
  std::uint64_t digest() const override { return 0; }

  bool known() const override { return true; }
  std::uint64_t key() const override { return at; }
  bool joined() const override { return is_joined; }
  bool near() const override { return is_near; }
  std::uint64_t from() const override { return begins; }
  bool idle() const override { return is_idle; }
  std::optional<std::uint64_t> tip_key() const override { return tip; }
  bool pass(Instant /*now*/, std::uint64_t key, Effects& /*out*/) override {
    if (!can_pass) return false;
    passed.push_back(key);
    is_idle = false;  // the proposed value is not decided yet
    if (tip) tip = key;
    return true;
  }
  MemberId coordinated_by() const override { return coordinator; }
  void want_pass(std::uint64_t key, Effects& /*out*/) override { wanted.push_back(key); }
  void keep_for(std::span<const MemberId> left_out) override {
    kept_for.emplace_back(left_out.begin(), left_out.end());
  }
  bool chooses(NodeId node) const override { return chosen.contains(node.value); }
  bool fit() const override { return is_fit; }
  WaitReason why_awaited() const override { return {}; }
  bool disk_hangs() const override { return hangs; }
  void set_ready(bool may, std::uint64_t from) override {
    ready = may;
    ready_from = from;
  }

  /// How often `call` was made since the last count() with the same name.
  std::size_t count(const std::string& call) {
    const auto found = static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
    std::erase(calls, call);
    return found;
  }

  const paxos::Config config;
  Host& host;
  paxos::Merger& merger;
  Act next;  ///< executed once, in the next call of this ensemble
  std::vector<std::string> calls;
  Duration pause{};
  NodeList list;
  NodesWait wait;
  std::optional<Instant> deadline;

  std::uint64_t at = 0;  ///< the result of key()
  bool is_joined = false;
  bool is_near = false;
  bool is_idle = false;
  bool is_fit = true;
  bool hangs = false;
  bool can_pass = true;
  std::uint64_t begins = 0;
  std::optional<std::uint64_t> tip;
  MemberId coordinator{};
  std::set<std::uint32_t> chosen;

  std::size_t takes = 1'000;  ///< how many more units on_work() takes from the host
  std::uint32_t unit_bytes = 1'000;
  std::vector<Unit> taken;
  std::vector<std::uint64_t> passed;
  std::vector<std::uint64_t> wanted;
  std::vector<MemberSet> kept_for;
  bool ready = false;
  std::uint64_t ready_from = 0;

 private:
  void note(const char* call, Effects& out) {
    calls.emplace_back(call);
    if (const Act act = std::exchange(next, nullptr)) act(out);
  }
};

/// One node with several ensembles, each a FakeEnsemble.
class EnsemblesBench : public ::testing::Test, public Host, public Effects {
 protected:
  static constexpr std::uint64_t kCluster = 77;
  static MemberId member(std::uint32_t node) { return {{node}, 100}; }
  static MemberSet members(std::initializer_list<std::uint32_t> nodes) {
    MemberSet set;
    for (const std::uint32_t node : nodes) set.push_back(member(node));
    return set;
  }
  static ViewId view_id(std::uint64_t number) { return {number, member(1)}; }

  /// Creates node `self` of nodes 1 to 4.
  void make(const Layout& layout, std::uint32_t self = 1) {
    config_.self = member(self);
    config_.universe = {{1}, {2}, {3}, {4}};
    config_.acceptors = {{1}, {2}, {3}};
    config_.cluster = kCluster;
    engine_.reset();
    fakes_.clear();
    engine_ = std::make_unique<Ensembles>(
        config_, layout, pool_, *this,
        [this](const paxos::Config& part, BufferPool& /*packets*/, Host& host) {
          auto made = std::make_unique<FakeEnsemble>(part, host);
          fakes_.push_back(made.get());
          return made;
        });
  }
  void several(std::uint32_t count) { make({count, {}, Merging::keys}); }

  /// A packet for this ensemble arrives, and makes the ensemble execute `act`.
  void in(std::size_t ensemble, const FakeEnsemble::Act& act) {
    fakes_[ensemble]->next = act;
    hear(fakes_[ensemble]->config.cluster);
    engine_->check_invariants();
  }
  void hear(std::uint64_t cluster) {
    const BufferRef packet = pool_.take(0, wire::kRelayHeaderBytes + 10);
    wire::Header header;
    header.sender = member(2);
    header.cluster = cluster;
    const wire::Relay frame{
        {1, member(2)}, 1, 0, 0, {wire::ValueKind::unit, Service::agreed, 1, member(2), 1}};
    wire::encode_relay_in_place(header, wire::PaxosKind::relay, frame,
                                {packet.data(), packet.size()});
    engine_->on_packet(now_, Lane::data, packet, *this);
  }
  /// The ensemble consumes a value with this key; `act` is the effect of the value.
  void value(std::size_t ensemble, std::uint64_t key, const FakeEnsemble::Act& act) {
    FakeEnsemble& fake = *fakes_[ensemble];
    in(ensemble, [&](Effects& out) {
      fake.merger.on_key(key, false);
      act(out);
      fake.at = key;
    });
  }
  /// The ensemble consumes an empty value with this key.
  void nothing(std::size_t ensemble, std::uint64_t key) {
    FakeEnsemble& fake = *fakes_[ensemble];
    in(ensemble, [&](Effects&) {
      fake.merger.on_key(key, true);
      fake.at = key;
    });
  }
  void all_come_to(std::uint64_t key) {
    for (std::size_t i = 0; i < fakes_.size(); ++i) {
      if (fakes_[i]->at < key) nothing(i, key);
    }
  }
  /// The ensemble delivers a unit: the one with this number among `origin`'s units of the view.
  void unit(std::size_t ensemble, std::uint64_t key, std::uint32_t origin, std::uint64_t number,
            const std::string& text, std::uint64_t view = 1, Service service = Service::agreed) {
    const auto size = static_cast<std::uint32_t>(wire::kPlacingBytes + text.size());
    Delivery delivery;
    delivery.origin = member(origin);
    delivery.service = service;
    delivery.unit = pool_.take(0, size);
    wire::encode_placing_in_place({key, view, number}, {delivery.unit.data(), size});
    std::memcpy(delivery.unit.data() + wire::kPlacingBytes, text.data(), text.size());
    value(ensemble, key, [&](Effects& out) { out.deliver(delivery); });
  }
  /// The ensemble orders and delivers one of the units that it took from this node's host.
  void own_unit(std::size_t ensemble, std::uint64_t key, std::size_t index = 0) {
    Delivery delivery;
    delivery.origin = config_.self;
    delivery.unit = fakes_[ensemble]->taken[index].bytes;
    value(ensemble, key, [&](Effects& out) {
      out.originate({}, 0);
      out.deliver(delivery);
    });
  }
  static void install(Effects& out, std::uint64_t number, const MemberSet& members,
                      const MemberSet& company = {}) {
    View view;
    view.id = view_id(number);
    if (!company.empty()) {
      view.transitional = true;
      view.members = company;
      out.install(view);
    }
    view.transitional = false;
    view.members = members;
    out.install(view);
  }
  /// The ensemble installs a view of `members`, with this node in it.
  void join(std::size_t ensemble, std::uint64_t key, std::uint64_t number, const MemberSet& members,
            const MemberSet& company = {}) {
    fakes_[ensemble]->is_joined = fakes_[ensemble]->is_near = true;
    value(ensemble, key, [&](Effects& out) { install(out, number, members, company); });
  }
  /// Installs view 1 of nodes 1, 2 and 3; then all ensembles have reached key 10.
  void begin() { begin_at(10); }
  void begin_at(std::uint64_t key) {
    engine_->start(now_, *this);
    for (std::size_t i = 1; i < fakes_.size(); ++i) join(i, key - 1, 1, members({1, 2, 3}));
    join(0, key, 1, members({1, 2, 3}));
    all_come_to(key);
    ASSERT_THAT(told(), testing::ElementsAre("view 1: 1 2 3", "event view_installed"));
    for (FakeEnsemble* fake : fakes_) fake->calls.clear();
  }
  void timer() {
    engine_->on_timer(now_, *this);
    engine_->check_invariants();
  }
  void work() {
    engine_->on_work(now_, *this);
    engine_->check_invariants();
  }
  /// What the node sent, delivered and reported since the last call, as text.
  std::vector<std::string> told() { return std::exchange(told_, {}); }
  /// The texts of the units that an ensemble took, with their numbers: "3:text".
  std::vector<std::string> taken(std::size_t ensemble) const {
    std::vector<std::string> texts;
    for (const Unit& unit : fakes_[ensemble]->taken) {
      const std::string text(as_text(unit.bytes.view().subspan(wire::kPlacingBytes)));
      texts.push_back(std::to_string(placing(unit).number) + ":" + text);
    }
    return texts;
  }
  static wire::Placing placing(const Unit& unit) {
    wire::Placing placing;
    EXPECT_EQ(wire::decode_placing(unit.bytes.view(), placing), wire::Drop::none);
    return placing;
  }
  std::uint64_t micros() const { return static_cast<std::uint64_t>(now_.ns) / 1'000; }

  // Overrides of Host and Effects.
  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue_.size()); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
    unit_bytes_max_ = unit_bytes_max;
    if (queue_.empty()) return false;
    const std::string& text = queue_.front().second;
    out.bytes = pool_.take(wire::kUnitHeadroomBytes, static_cast<std::uint32_t>(text.size()));
    std::memcpy(out.bytes.data(), text.data(), text.size());
    out.service = Service::safe;
    queue_.pop_front();
    return true;
  }
  DomainSet next_domains() const override {
    return queue_.empty() ? DomainSet{} : DomainSet::of(queue_.front().first);
  }
  std::uint32_t receive_room_units() const override { return room_; }
  void send(NodeId to, Lane /*lane*/, const BufferRef& /*packet*/) override {
    told_.push_back("send " + std::to_string(to.value));
  }
  void multicast(Lane /*lane*/, const BufferRef& /*packet*/) override {
    told_.emplace_back("multicast");
  }
  void originate(const ViewId& view, Seq seq) override {
    told_.push_back("own " + std::to_string(view.number) + "/" + std::to_string(seq));
  }
  void deliver(const Delivery& delivery) override {
    deliveries_.push_back(delivery);
    told_.push_back(std::to_string(delivery.seq) + ":" +
                    std::string(as_text(delivery.unit.view())));
  }
  void install(const View& view) override {
    EXPECT_EQ(view.primary, Primary::yes);
    std::string text = (view.transitional ? "trans " : "view ") + std::to_string(view.id.number);
    if (view.old.number != 0) text += " from " + std::to_string(view.old.number);
    text += ":";
    for (const MemberId& each : view.members) text += " " + std::to_string(each.node.value);
    told_.push_back(text);
  }
  void report(const Event& event) override {
    events_.push_back(event);
    told_.push_back("event " + std::string(event.kind->name));
  }
  void fatal(std::string_view reason) override { told_.push_back("stop: " + std::string(reason)); }

  BufferPool pool_{512, 8'192};  // first, because it must outlive all references to its buffers
  paxos::Config config_;
  std::vector<FakeEnsemble*> fakes_;
  std::unique_ptr<Ensembles> engine_;
  Instant now_{1'000'000'000};
  std::deque<std::pair<Domain, std::string>> queue_;
  std::uint32_t unit_bytes_max_ = 0;  ///< the argument of the last next_unit()
  std::uint32_t room_ = 1'000;
  std::vector<Delivery> deliveries_;
  std::vector<Event> events_;

 private:
  std::vector<std::string> told_;
};

}  // namespace peal::order::ridge::test
