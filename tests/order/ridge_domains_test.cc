// SPDX-License-Identifier: Apache-2.0
// An engine with one ensemble of all nodes and two ensembles of domains, on a network with a
// constant delay: which messages each node delivers, in which order, and which links packets use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "order/ridge/engine.h"
#include "paxos_bench.h"
#include "wire/headroom.h"
#include "wire/packet.h"
#include "wire/paxos.h"

namespace peal::order::ridge::test {
namespace {

constexpr std::uint32_t kDomainNodes = 4;
constexpr std::uint64_t kDomainCluster = 77;

/// Nodes 1 and 2 learn domain 1. Nodes 2 to 5 learn domain 2, but node 5 never runs.
Layout layout_of_two() {
  Layout layout;
  layout.domains = {{{{1}, {2}}, {}}, {{{2}, {3}, {4}, {5}}, {}}};
  return layout;
}
bool learns(std::uint32_t node, Domain domain) { return layout_of_two().has(domain, NodeId{node}); }

class RidgeDomains : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  class Node final : public Host, public Effects {
   public:
    Node(RidgeDomains& all, std::uint32_t number) : all_(all), number_(number) {
      paxos::Config config;
      config.self = {{number}, 100};
      config.universe = {{1}, {2}, {3}, {4}};
      config.acceptors = {{1}, {2}, {3}};
      config.cluster = kDomainCluster;
      config.log = &log_;
      engine = make_engine(config, pool_, *this, Dissemination::distributors, layout_of_two());
    }
    /// Makes the log durable, and notifies the engine; called after each call of the engine.
    void finish() {
      if (log_.durable() >= log_.last()) return;
      log_.sync();
      engine->on_durable(all_.now_, *this);
    }
    void hear(const std::vector<std::byte>& bytes) {
      BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
      std::memcpy(packet.data(), bytes.data(), bytes.size());
      engine->on_packet(all_.now_, Lane::data, packet, *this);
    }

    // Overrides of Host and Effects.
    std::uint32_t backlog_units() const override {
      return static_cast<std::uint32_t>(queue.size());
    }
    bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
      if (queue.empty()) return false;
      const std::string& text = queue.front().second;
      EXPECT_GE(unit_bytes_max, text.size());
      out.bytes = pool_.take(wire::kUnitHeadroomBytes, static_cast<std::uint32_t>(text.size()));
      std::memcpy(out.bytes.data(), text.data(), text.size());
      queue.pop_front();
      return true;
    }
    DomainSet next_domains() const override {
      return queue.empty() ? DomainSet{} : DomainSet::of(queue.front().first);
    }
    std::uint32_t receive_room_units() const override { return room; }
    void send(NodeId to, Lane /*lane*/, const BufferRef& packet) override {
      all_.post(number_, to.value, packet);
    }
    void multicast(Lane /*lane*/, const BufferRef& packet) override {
      for (std::uint32_t to = 1; to <= kDomainNodes; ++to) {
        if (to != number_) all_.post(number_, to, packet);
      }
    }
    void originate(const ViewId& /*view*/, Seq /*seq*/) override { ++originated; }
    void deliver(const Delivery& delivery) override {
      told.emplace_back(as_text(delivery.unit.view()));
      places.push_back(delivery.seq);
    }
    void install(const View& view) override {
      if (view.transitional) return;
      ++views;
      members = view.members.size();
      places.clear();
    }
    void report(const order::Event& event) override { events.push_back(event.kind); }
    void fatal(std::string_view reason) override { ADD_FAILURE() << reason; }

    std::size_t count(const EventKind* kind) const {
      return static_cast<std::size_t>(std::count(events.begin(), events.end(), kind));
    }

    std::unique_ptr<Engine> engine;
    std::deque<std::pair<Domain, std::string>> queue;
    std::uint32_t room = 1'000;
    Texts told;
    std::vector<Seq> places;  ///< positions of the units that were delivered in the last view
    std::vector<const EventKind*> events;
    std::size_t members = 0;
    std::size_t views = 0;
    std::size_t originated = 0;
    bool gone = false;

   private:
    RidgeDomains& all_;
    std::uint32_t number_;
    BufferPool pool_{2'048, 4'096};
    paxos::test::MemoryLog log_;
  };

  RidgeDomains() {
    for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
      nodes_.push_back(std::make_unique<Node>(*this, n));
    }
    for (std::uint32_t n = 1; n <= kDomainNodes; ++n) call(n, &Engine::start);
    EXPECT_TRUE(run_until([&] { return all([](const Node& each) { return each.members == 4; }); }));
    run(milliseconds(100));
  }

  Node& node(std::uint32_t number) { return *nodes_[number - 1]; }
  void call(std::uint32_t number, void (Engine::*what)(Instant, Effects&)) {
    Node& to = node(number);
    (to.engine.get()->*what)(now_, to);
    to.finish();
  }
  void submit(std::uint32_t from, Domain domain, std::string text) {
    node(from).queue.emplace_back(domain, std::move(text));
    call(from, &Engine::on_work);
  }
  bool all(const std::function<bool(const Node&)>& is) const {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& each) { return each->gone || is(*each); });
  }
  void run(Duration span) {
    run_for([] { return false; }, span);
  }
  bool run_until(const std::function<bool()>& done, Duration span = seconds(5)) {
    return run_for(done, span);
  }
  /// The texts that the node has delivered since the last call.
  Texts take(std::uint32_t number) { return std::exchange(node(number).told, {}); }

  Instant now_{1'000'000'000};
  std::function<bool(std::uint32_t, std::uint32_t)> passes_ = [](auto, auto) { return true; };
  /// Sender, receiver and domain of all packets.
  std::set<std::tuple<std::uint32_t, std::uint32_t, Domain>> ways_;

 private:
  void post(std::uint32_t from, std::uint32_t to, const BufferRef& packet) {
    const std::uint64_t cluster = wire::cluster_of(packet.view()).value_or(0);
    for (Domain domain = 0; domain <= 2; ++domain) {
      if (cluster == ensemble_cluster(kDomainCluster, domain)) ways_.insert({from, to, domain});
    }
    if (to > kDomainNodes || !passes_(from, to)) return;
    const ByteView bytes = packet.view();
    network_.emplace(std::pair(now_ + microseconds(200), ++number_),
                     std::pair(to, std::vector<std::byte>(bytes.begin(), bytes.end())));
  }
  bool run_for(const std::function<bool()>& done, Duration span) {
    const Instant end = now_ + span;
    while (!done()) {
      std::uint32_t due = 0;
      Instant at = end;
      for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
        const auto deadline = node(n).engine->next_deadline();
        if (node(n).gone || !deadline || *deadline >= at) continue;
        at = std::max(*deadline, now_);
        due = n;
      }
      if (!network_.empty() && network_.begin()->first.first <= at) {
        const auto next = network_.extract(network_.begin());
        now_ = std::max(now_, next.key().first);
        Node& to = node(next.mapped().first);
        if (to.gone) continue;
        to.hear(next.mapped().second);
        to.finish();
        continue;
      }
      now_ = at;
      if (due == 0) return done();
      call(due, &Engine::on_timer);
    }
    return true;
  }

  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::pair<Instant, std::uint64_t>, std::pair<std::uint32_t, std::vector<std::byte>>>
      network_;
  std::uint64_t number_ = 0;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(RidgeDomains, AUnitIsToldToThoseWhoLearnItsDomainAndInOneOrder) {
  submit(1, 1, "of one");
  submit(3, 2, "of two");
  submit(4, 0, "of all");
  run(milliseconds(200));
  EXPECT_THAT(node(1).told, UnorderedElementsAre("of one", "of all"));
  EXPECT_THAT(node(2).told, UnorderedElementsAre("of one", "of two", "of all"));
  EXPECT_THAT(node(3).told, UnorderedElementsAre("of two", "of all"));
  EXPECT_THAT(node(4).told, UnorderedElementsAre("of two", "of all"));
  std::map<std::string, Seq> place;
  for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
    const Node& each = node(n);
    ASSERT_EQ(each.places.size(), each.told.size());
    EXPECT_TRUE(std::is_sorted(each.places.begin(), each.places.end()));
    for (std::size_t i = 0; i < each.told.size(); ++i) {
      EXPECT_EQ(place.emplace(each.told[i], each.places[i]).first->second, each.places[i]);
    }
  }
  EXPECT_EQ(domain_of(place["of all"]), 0U);
  EXPECT_EQ(domain_of(place["of one"]), 1U);
  EXPECT_EQ(domain_of(place["of two"]), 2U);
}

TEST_F(RidgeDomains, WhatOneSendsComesInItsOrderWhateverDomainsItIsOf) {
  Texts sent[3];
  for (int i = 0; i < 60; ++i) {
    const auto domain = static_cast<Domain>(i / 2 % 3);
    const std::string text = std::to_string(i);
    for (const Domain of : {Domain{1}, Domain{2}}) {
      if (domain == 0 || domain == of) sent[of].push_back(text);
    }
    sent[0].push_back(text);
    submit(2, domain, text);
    if (i % 7 == 0) run(microseconds(300));
  }
  run(seconds(1));
  EXPECT_EQ(node(1).told, sent[1]);
  EXPECT_EQ(node(2).told, sent[0]);
  EXPECT_EQ(node(3).told, sent[2]);
  EXPECT_EQ(node(4).told, sent[2]);
  EXPECT_EQ(node(2).originated, 60U);
}

TEST_F(RidgeDomains, PacketsGoToThoseWhoLearnTheDomainAndNobodySendsItselfAny) {
  for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
    for (const Domain domain : {Domain{0}, Domain{1}, Domain{2}}) {
      if (learns(n, domain)) submit(n, domain, "text");
    }
  }
  run(milliseconds(200));
  // The senders of domain 2's packets to node 5.
  const auto five = [&] {
    std::set<std::uint32_t> from;
    for (const auto& [sender, to, domain] : ways_) {
      EXPECT_NE(sender, to);
      EXPECT_TRUE(domain == 0 || learns(to, domain)) << sender << " to " << to << " of " << domain;
      EXPECT_TRUE(domain == 0 || learns(sender, domain));
      if (to == 5 && domain == 2) from.insert(sender);
    }
    return from;
  };
  EXPECT_THAT(five(), IsEmpty());
  // A new list that includes node 5, which learns domain 2.
  const NodeList list{5, {{1}, {2}, {3}, {4}, {5}}, {{1}, {2}, {3}}};
  for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
    node(n).engine->set_nodes(now_, list, node(n));
    node(n).finish();
  }
  run(seconds(1));
  EXPECT_THAT(five(), ElementsAre(2U, 3U, 4U)) << "so that it can come";
  for (std::uint32_t n = 1; n <= kDomainNodes; ++n) {
    EXPECT_EQ(node(n).count(&event::nodes_adopted), 1U) << "once for all of its ensembles";
    EXPECT_EQ(node(n).engine->nodes_wait().kind, NodesWait::Kind::nothing);
  }
  take(1);
  submit(4, 0, "goes on");
  run(milliseconds(200));
  EXPECT_THAT(node(1).told, ElementsAre("goes on"));
}

TEST_F(RidgeDomains, WhatConcernsAllEnsemblesIsSaidOnce) {
  Node& two = node(2);
  EXPECT_EQ(two.views, 1U);
  EXPECT_EQ(two.count(&event::view_installed), 1U);
  two.engine->on_pause(now_, seconds(1), two);
  EXPECT_EQ(two.count(&event::paused), 1U);
}

TEST_F(RidgeDomains, WithoutRoomNothingIsToldUntilThereIsSome) {
  node(2).room = 0;
  call(2, &Engine::on_drained);
  submit(1, 1, "a");
  submit(1, 1, "b");
  submit(4, 2, "c");
  run(milliseconds(50));
  EXPECT_THAT(node(2).told, IsEmpty());
  EXPECT_THAT(node(4).told, ElementsAre("c"));
  node(2).room = 100;
  call(2, &Engine::on_work);
  run(milliseconds(200));
  EXPECT_THAT(node(2).told, UnorderedElementsAre("a", "b", "c"));
}

TEST_F(RidgeDomains, WhoDiesIsLeftOutAndNothingIsLostOrToldTwice) {
  passes_ = [](auto from, auto /*to*/) { return from != 2; };  // node 2's packets are lost
  submit(2, 2, "sent again");
  run(milliseconds(1));
  passes_ = [](auto, auto) { return true; };
  node(4).gone = true;
  submit(3, 2, "of two");
  submit(1, 1, "of one");
  EXPECT_TRUE(run_until([&] { return all([](const Node& each) { return each.members == 3; }); }));
  submit(3, 0, "last");
  run(milliseconds(300));
  EXPECT_THAT(node(1).told, ElementsAre("of one", "last"));
  EXPECT_THAT(node(2).told, UnorderedElementsAre("of one", "of two", "sent again", "last"));
  EXPECT_THAT(node(3).told, UnorderedElementsAre("of two", "sent again", "last"));
  EXPECT_EQ(node(2).told.back(), "last");
}

}  // namespace
}  // namespace peal::order::ridge::test
