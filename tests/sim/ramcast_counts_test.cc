// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "order/ramcast/links.h"
#include "sim/baselines/literal/records.h"
#include "sim/baselines/registry.h"
#include "sim/world/world.h"

// What one message costs with RamCast, and with the published algorithm: writes into the memory of
// others, and delays of writes.

namespace peal::sim {
namespace {

using order::ramcast::Area;

constexpr Duration kWriteDelay = microseconds(20);
constexpr std::uint32_t kDomainSize = 3;

/// Domains of `size` nodes each, and two more nodes, which only send. Each write takes kWriteDelay,
/// and ends as long after it has arrived.
WorldOptions ramcast_domains(std::uint32_t domains, std::uint32_t size = kDomainSize,
                             const char* engine = "ramcast") {
  WorldOptions options;
  options.engine = EngineOptions(*find_engine(engine));
  options.engine.read("repair_ms", "40ms");
  options.engine.read("retry_ms", "400ms");
  options.nodes = size * domains + 2;
  for (std::uint32_t d = 0; d < domains; ++d) {
    order::DomainNodes& domain = options.domains.emplace_back();
    for (std::uint32_t n = 1; n <= size; ++n) domain.nodes.push_back(NodeId{size * d + n});
  }
  options.limits.message_bytes_max = 1'000;
  options.limits.submit_bytes_max = 1U << 22;
  options.limits.submit_small_bytes_max = 1U << 22;
  options.fabric.write_least = options.fabric.write_most = kWriteDelay;
  options.fabric.done_least = options.fabric.done_most = kWriteDelay;
  options.fabric.per_kilobyte = {};
  options.fabric.tear = FabricOptions::Tear::never;
  options.step_cost = options.send_cost = nanoseconds(10);
  return options;
}

HistoryRecorder::Options ramcast_recorder(const WorldOptions& options) {
  HistoryRecorder::Options out;
  out.nodes = options.nodes;
  out.engine = &options.engine.engine();
  for (const order::DomainNodes& each : options.domains) out.domains.push_back(each.nodes);
  return out;
}

/// A calm cluster whose writes are counted. The connections of all nodes that one message to all
/// domains needs are open.
class CountedCluster final : public Watcher {
 public:
  explicit CountedCluster(const WorldOptions& options, std::uint32_t domains)
      : options_(options),
        domains_(domains),
        recorder_(ramcast_recorder(options)),
        world_(options, recorder_) {
    for (std::uint32_t n = 1; n <= options_.nodes; ++n) world_.start(NodeId{n});
    world_.run_until(Instant{} + seconds(2));
    for (std::uint32_t n = 1; n <= options_.nodes; ++n) send(n);
    world_.run_until(world_.now() + milliseconds(200));
    world_.watch(this);
    world_.fabric()->observe([this](const MemberId&, const port::Place& place, ByteView) {
      ++writes_[static_cast<Area>(place.number)];
    });
  }

  void on_send(const Packet& packet, MemberId /*from*/) override {
    if (packet_kind_name(packet.kind) != "memory_hello") ++packets_;
  }
  void on_event(MemberId /*who*/, const order::Event& /*event*/) override {}
  void on_message(Instant at, MemberId who, const node::Message& message) override {
    ++deliveries_;
    delivered_[who.node] = at;
    if (message.sender.node.value == outside()) first_[who.node] = at;
  }

  void send(std::uint32_t from, std::size_t bytes = 1) {
    world_.submit(NodeId{from}, Service::agreed, std::string(bytes, 'm'),
                  DomainSet::up_to(domains_));
  }
  /// One message of this node, from the submission to the last delivery.
  void send_one(std::uint32_t from) {
    writes_.clear();
    delivered_.clear();
    sent_ = world_.now();
    send(from);
    world_.run_until(world_.now() + milliseconds(20));
  }
  /// The two nodes outside send one message each, the second one `apart` later.
  void send_two(Duration apart) {
    delivered_.clear();
    first_.clear();
    sent_ = world_.now();
    send(outside());
    world_.run_until(sent_ + apart);
    send(outside() - 1);
    world_.run_until(sent_ + milliseconds(1));
  }
  /// Writes for each of many messages that wait, each a unit of its own.
  double writes_each(std::uint64_t messages) {
    writes_.clear();
    deliveries_ = 0;
    for (std::uint64_t i = 0; i < messages; ++i) send(outside(), 900);
    const std::uint64_t all = messages * (options_.nodes - 2);
    while (deliveries_ < all && world_.step(sent_ + seconds(60))) {
    }
    EXPECT_EQ(deliveries_, all);
    return static_cast<double>(writes()) / static_cast<double>(messages);
  }
  std::uint32_t outside() const { return options_.nodes; }
  /// Writes of messages, stamps, acknowledgements and logs. Others are replies to senders, and
  /// heartbeats.
  std::uint64_t writes() {
    return writes_[Area::messages] + writes_[Area::cells] + writes_[Area::log];
  }
  std::uint64_t writes(Area area) { return writes_[area]; }
  std::uint64_t packets() const { return packets_; }
  /// Delays of writes from the submission to the delivery at this node.
  std::int64_t delays(std::uint32_t node) const {
    return (delivered_.at(NodeId{node}) - sent_).ns / kWriteDelay.ns;
  }
  bool is_clean() {
    recorder_.finish();
    return recorder_.violations().empty();
  }
  Instant sent() const { return sent_; }
  /// When the nodes delivered the first message of send_two().
  const std::map<NodeId, Instant>& first_delivered() const { return first_; }
  const std::map<NodeId, Instant>& delivered() const { return delivered_; }

 private:
  WorldOptions options_;
  std::uint32_t domains_;
  HistoryRecorder recorder_;
  World world_;
  std::map<Area, std::uint64_t> writes_;
  std::map<NodeId, Instant> delivered_, first_;
  std::uint64_t deliveries_ = 0;
  std::uint64_t packets_ = 0;
  Instant sent_{};
};

// k domains of n nodes: a slot at each of k n servers; the stamp of each of k leaders at all other
// servers; the acknowledgements of k n servers at all other servers.
TEST(RamcastCounts, AMessageOfASenderOutsideTakesAsManyWritesAsPublished) {
  const std::map<std::uint32_t, std::uint64_t> published{{1, 11}, {2, 46}, {4, 188}, {8, 760}};
  for (const auto& [k, writes] : published) {
    CountedCluster cluster(ramcast_domains(k), k);
    cluster.send_one(cluster.outside());
    const std::uint64_t servers = std::uint64_t{k} * kDomainSize;
    EXPECT_EQ(cluster.writes(Area::messages), servers);
    EXPECT_EQ(cluster.writes(Area::log), k * (kDomainSize - 1));
    EXPECT_EQ(cluster.writes(Area::cells), k * (k - 1) * kDomainSize + servers * (servers - 1));
    EXPECT_EQ(cluster.writes(), writes) << k << " domains";
    EXPECT_EQ(cluster.packets(), 0U);
    ASSERT_EQ(cluster.delivered().size(), servers);
    EXPECT_TRUE(cluster.is_clean());
  }
}

TEST(RamcastCounts, FollowersThatLearnFromTheLogAcknowledgeNothing) {
  WorldOptions options = ramcast_domains(1);
  options.engine.read("lazy", "yes");
  CountedCluster cluster(options, 1);
  cluster.send_one(cluster.outside());
  EXPECT_EQ(cluster.writes(Area::messages), kDomainSize);
  EXPECT_EQ(cluster.writes(Area::log), 2 * (kDomainSize - 1));
  EXPECT_EQ(cluster.writes(), 7U);
  EXPECT_EQ(cluster.delivered().size(), kDomainSize);
}

// The leader of the only domain delivers once its writes have ended; a completion takes one more
// delay here. Its acknowledgement comes with its stamp: two of three servers are a majority.
TEST(RamcastCounts, OneDomainTakesTwoDelaysAndACompletionAtTheLeader) {
  CountedCluster three(ramcast_domains(1), 1);
  three.send_one(three.outside());
  EXPECT_EQ(three.delays(1), 2 + 1);
  for (std::uint32_t n = 2; n <= 3; ++n) EXPECT_EQ(three.delays(n), 2) << "n" << n;
  CountedCluster five(ramcast_domains(1, 5), 1);
  five.send_one(five.outside());
  for (std::uint32_t n = 1; n <= 5; ++n) EXPECT_EQ(five.delays(n), 3) << "n" << n;
}

TEST(RamcastCounts, ALeaderThatSendsWaitsForOneWriteAndItsCompletion) {
  CountedCluster three(ramcast_domains(1), 1);
  three.send_one(1);
  EXPECT_EQ(three.delays(1), 1 + 1);
  CountedCluster five(ramcast_domains(1, 5), 1);
  five.send_one(1);
  for (std::uint32_t n = 1; n <= 5; ++n) EXPECT_EQ(five.delays(n), 2) << "n" << n;
}

TEST(RamcastCounts, SeveralDomainsTakeThreeDelaysEverywhere) {
  for (const std::uint32_t k : {2U, 4U, 8U}) {
    CountedCluster cluster(ramcast_domains(k), k);
    cluster.send_one(cluster.outside());
    for (std::uint32_t n = 1; n <= k * kDomainSize; ++n) {
      EXPECT_EQ(cluster.delays(n), 3) << "n" << n << " of " << k << " domains";
    }
  }
}

// A message that reaches a leader before the clock has passed the key of an earlier one holds up
// the earlier one, and is ordered after three delays.
TEST(RamcastCounts, ContentionTakesAtMostFiveDelays) {
  WorldOptions options = ramcast_domains(2);
  options.fabric.write_least = options.fabric.done_least = kWriteDelay / 20;
  CountedCluster cluster(options, 2);
  std::int64_t most_ns = 0;
  for (int tenths = 0; tenths < 40; ++tenths) {
    for (int round = 0; round < 24; ++round) {
      const Duration apart = kWriteDelay / 10 * tenths;
      cluster.send_two(apart);
      for (const auto& [node, at] : cluster.first_delivered()) {
        most_ns = std::max(most_ns, (at - cluster.sent()).ns);
      }
    }
  }
  EXPECT_GT(most_ns, kWriteDelay.ns * 3);
  EXPECT_LE(most_ns, kWriteDelay.ns * 5);
}

/// The published algorithm in a calm cluster, with its own number of steps.
WorldOptions literal_domains(std::uint32_t domains) {
  WorldOptions options = ramcast_domains(domains, kDomainSize, "literal");
  options.engine.read("published", "steps");
  return options;
}

// Slots; the stamp of each of k leaders at its followers and at the other leaders; k - 1 stamps of
// others at each follower; acknowledgements.
TEST(RamcastCounts, ThePublishedAlgorithmTakesAsManyWritesAndDelaysAsPublished) {
  using genuine::literal::Area;
  const std::map<std::uint32_t, std::uint64_t> published{{1, 11}, {2, 46}, {4, 188}, {8, 760}};
  for (const auto& [k, writes] : published) {
    CountedCluster cluster(literal_domains(k), k);
    cluster.send_one(cluster.outside());
    const auto count = [&](Area area) {
      return cluster.writes(static_cast<order::ramcast::Area>(area));
    };
    const std::uint64_t servers = std::uint64_t{k} * kDomainSize;
    EXPECT_EQ(count(Area::units), servers);
    EXPECT_EQ(count(Area::log), k * (kDomainSize - 1) * k);
    EXPECT_EQ(count(Area::stamps), k * (k - 1));
    EXPECT_EQ(count(Area::acks), servers * (servers - 1));
    const std::uint64_t all =
        count(Area::units) + count(Area::log) + count(Area::stamps) + count(Area::acks);
    EXPECT_EQ(all, writes) << k << " domains";
    ASSERT_EQ(cluster.delivered().size(), servers);
    for (std::uint32_t n = 1; n <= servers; ++n) {
      EXPECT_EQ(cluster.delays(n), k == 1 && n % kDomainSize != 1 ? 2 : 3) << "n" << n;
    }
    EXPECT_TRUE(cluster.is_clean());
  }
}

// Under load acknowledgements and stamps of neighbouring messages share writes: a third of the 46
// writes of a single message.
TEST(RamcastCounts, WritesAreSharedAtSaturation) {
  CountedCluster cluster(ramcast_domains(2), 2);
  constexpr std::uint64_t kMessages = 2'000;
  const double writes = cluster.writes_each(kMessages);
  RecordProperty("writes_a_message", std::to_string(writes));
  EXPECT_LT(writes, 46.0 / 3);
  EXPECT_TRUE(cluster.is_clean());
}

}  // namespace
}  // namespace peal::sim
