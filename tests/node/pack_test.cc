// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "fake_engine.h"
#include "node/unit.h"

namespace peal::node::test {
namespace {

constexpr std::uint32_t kPackUnit = 1'390;
constexpr std::uint32_t kAlone =
    kPackUnit - kUnitHeaderBytes - kWholeHeaderBytes;  // the largest message in one unit

TEST(Packing, OneMessageOfEverySizeAroundTheUnitArrivesByteExact) {
  for (std::uint32_t base :
       {0U, kAlone, 2 * kPackUnit - 30, 3 * kPackUnit - 45, 65'536U, 1'000'000U}) {
    for (std::uint32_t size = base < 4 ? 0 : base - 4; size <= base + 4; ++size) {
      Bench sender(1), receiver(2);
      const std::string payload = pattern(size, size);
      sender.submit(payload);
      const std::size_t units = sender.order_all(kPackUnit, {&receiver});
      EXPECT_EQ(units == 1, size <= kAlone) << size;
      ASSERT_EQ(receiver.sink.got.size(), 1U) << size;
      EXPECT_EQ(receiver.sink.got[0].payload, payload);
      EXPECT_EQ(receiver.sink.got[0].in_place, size <= kAlone);
      EXPECT_EQ(receiver.sink.got[0].seq, units);
      EXPECT_EQ(sender.node->queued_messages(), 0U);
      EXPECT_EQ(receiver.node->reassembly_bytes(), 0U);
    }
  }
}

TEST(Packing, SmallMessagesShareAUnitUpToItsLastByte) {
  for (int slack : {-1, 0, 1}) {
    Bench sender(1), receiver(2);
    // Three messages together are one byte too long for a unit, fill the unit, or leave one byte
    // free.
    const std::size_t each = 300;
    const std::size_t third = kPackUnit - kUnitHeaderBytes - 3 * kWholeHeaderBytes - 2 * each;
    sender.submit(pattern(each, 1));
    sender.submit(pattern(each, 2));
    sender.submit(pattern(third - static_cast<std::size_t>(slack), 3));
    EXPECT_EQ(sender.order_all(kPackUnit, {&receiver}), slack < 0 ? 2U : 1U);
    ASSERT_EQ(receiver.sink.got.size(), 3U);
    if (slack >= 0) {
      EXPECT_EQ(receiver.sink.got[2].index, 2U);
      EXPECT_EQ(receiver.sink.got[2].seq, 1U);
    } else {
      EXPECT_EQ(receiver.sink.got[2].index, 0U);
      EXPECT_EQ(receiver.sink.got[2].seq, 2U);
    }
  }
}

TEST(Packing, AtMost256MessagesShareAUnit) {
  Bench sender(1), receiver(2);
  for (int i = 0; i < 300; ++i) sender.submit("");
  EXPECT_EQ(sender.order_all(kPackUnit, {&receiver}), 2U);
  ASSERT_EQ(receiver.sink.got.size(), 300U);
  EXPECT_EQ(receiver.sink.got[255].index, 255U);
  EXPECT_EQ(receiver.sink.got[256].index, 0U);
  EXPECT_EQ(receiver.sink.got[256].seq, 2U);
}

TEST(Packing, AUnitHoldsOneClassAndEachMessageKeepsItsService) {
  Bench sender(1), receiver(2);
  const Service services[] = {Service::fifo, Service::causal, Service::agreed,
                              Service::safe, Service::safe,   Service::agreed};
  for (Service service : services) sender.submit("m", service);
  std::vector<Service> classes;
  while (auto unit = sender.order_one(kPackUnit)) {
    classes.push_back(unit->service);
    receiver.engine->effects->deliver(*unit);
  }
  EXPECT_EQ(classes, (std::vector{Service::agreed, Service::safe, Service::agreed}));
  ASSERT_EQ(receiver.sink.got.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(receiver.sink.got[i].service, services[i]);
}

// For an engine with causal units, fifo and causal messages are packed separately. Their units have
// no position.
TEST(Packing, WithCausalUnitsFifoAndCausalMessagesAreAClassOfTheirOwn) {
  Limits limits;
  limits.causal_units = true;
  Bench sender(1, limits), receiver(2, limits);
  const Service services[] = {Service::fifo,   Service::causal, Service::agreed, Service::causal,
                              Service::causal, Service::safe,   Service::fifo};
  for (Service service : services) sender.submit("m", service);
  std::vector<Service> classes;
  while (auto unit = sender.order_one(kPackUnit)) {
    classes.push_back(unit->service);
    receiver.engine->effects->deliver(*unit);
  }
  EXPECT_EQ(classes, (std::vector{Service::causal, Service::agreed, Service::causal, Service::safe,
                                  Service::causal}));
  ASSERT_EQ(receiver.sink.got.size(), 7U);
  ASSERT_EQ(sender.sink.placed.size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(receiver.sink.got[i].service, services[i]);
    EXPECT_EQ(receiver.sink.got[i].number, i + 1);
    EXPECT_EQ(receiver.sink.got[i].seq > 0, is_ordered(services[i]));
    EXPECT_EQ(sender.sink.placed[i].seq, receiver.sink.got[i].seq);
    EXPECT_EQ(sender.sink.placed[i].service, services[i]);
  }
}

TEST(Packing, ALargeCausalMessageGoesThroughUnitsWithoutAPosition) {
  Limits limits;
  limits.causal_units = true;
  Bench sender(1, limits), receiver(2, limits);
  sender.submit(pattern(10'000, 1), Service::causal);
  sender.submit("after", Service::fifo);
  sender.submit("agreed");
  while (auto unit = sender.order_one(kPackUnit)) receiver.engine->effects->deliver(*unit);
  ASSERT_EQ(receiver.sink.got.size(), 3U);
  EXPECT_EQ(receiver.sink.got[0].payload, pattern(10'000, 1));
  EXPECT_EQ(receiver.sink.got[0].seq, 0U);
  EXPECT_EQ(receiver.sink.got[1].seq, 0U);
  EXPECT_EQ(receiver.sink.got[2].seq, 1U);
  EXPECT_EQ(sender.node->queued_messages(), 0U);
}

// A unit holds messages with the same destinations only, because other nodes do not get the unit.
// next_domains() has the destinations of the next unit.
TEST(Packing, AUnitHasOneSetOfDestinations) {
  Bench sender(1), receiver(2);
  const DomainSet one = DomainSet::of(1), two = DomainSet::of(2), both = DomainSet::up_to(2);
  for (const DomainSet domains : {one, one, DomainSet(), two, two, both, both, two, one}) {
    ASSERT_TRUE(sender.node->enqueue(as_bytes_view("x"), Service::agreed, domains));
  }
  const std::string large = pattern(3 * kPackUnit, 1);
  ASSERT_TRUE(sender.node->enqueue(as_bytes_view(large), Service::agreed, one));
  std::vector<DomainSet> next;
  while (sender.engine->host->backlog_units() > 0) {
    next.push_back(sender.engine->host->next_domains());
    order::Unit unit;
    ASSERT_TRUE(sender.engine->host->next_unit(kPackUnit, unit));
  }
  // The large message may begin in the unit of the small message before it.
  const std::vector<DomainSet> first{one, {}, two, both, two, one};
  ASSERT_GE(next.size(), first.size() + 2);
  EXPECT_EQ((std::vector<DomainSet>(next.begin(), next.begin() + 6)), first);
  for (std::size_t i = first.size(); i < next.size(); ++i) EXPECT_EQ(next[i], one);
  EXPECT_EQ(sender.engine->host->next_domains(), DomainSet());
}

TEST(Packing, AMessageKeepsItsDestinations) {
  Bench sender(1), receiver(2);
  const DomainSet both = DomainSet::up_to(2);
  ASSERT_TRUE(sender.node->enqueue(as_bytes_view("x"), Service::agreed, both));
  ASSERT_TRUE(sender.node->enqueue(as_bytes_view("y"), Service::agreed, both));
  EXPECT_EQ(sender.order_all(kPackUnit, {&receiver}), 1U);
  ASSERT_EQ(sender.sink.placed.size(), 2U);
  for (const Origination& each : sender.sink.placed) EXPECT_EQ(each.domains, both);
  ASSERT_EQ(receiver.sink.got.size(), 2U);
  for (const Recorder::Got& each : receiver.sink.got) EXPECT_EQ(each.domains, both);
}

TEST(Packing, ALargeMessageFillsItsUnitsAndSharesTheLast) {
  Bench sender(1), receiver(2);
  sender.submit("before");
  sender.submit(pattern(10'000, 1));
  sender.submit("after");
  std::vector<std::uint32_t> sizes;
  while (auto unit = sender.order_one(kPackUnit)) {
    sizes.push_back(unit->unit.size());
    receiver.engine->effects->deliver(*unit);
  }
  ASSERT_EQ(sizes.size(), 8U);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) EXPECT_EQ(sizes[i], kPackUnit) << i;
  ASSERT_EQ(receiver.sink.got.size(), 3U);
  EXPECT_EQ(receiver.sink.got[1].payload, pattern(10'000, 1));
  EXPECT_EQ(receiver.sink.got[1].seq, 8U);
  EXPECT_EQ(receiver.sink.got[1].index, 0U);
  EXPECT_EQ(receiver.sink.got[2].seq, 8U);
  EXPECT_EQ(receiver.sink.got[2].index, 1U);
}

TEST(Packing, TheSenderAndAllReceiversNameTheSamePlaces) {
  Bench sender(1), receiver(2);
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    sender.submit(pattern(random.below(random.chance(0.1) ? 9'000 : 200), 1),
                  random.chance(0.2) ? Service::safe : Service::agreed);
  }
  sender.order_all(kPackUnit, {&sender, &receiver});
  EXPECT_EQ(sender.sink.got, receiver.sink.got);
  EXPECT_EQ(sender.sink.originated_digests, receiver.sink.delivered_digests);
  ASSERT_EQ(sender.sink.placed.size(), 500U);
  ASSERT_EQ(receiver.sink.got.size(), 500U);
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(sender.sink.placed[i].number, i + 1);
    EXPECT_EQ(receiver.sink.got[i].number, i + 1);
    EXPECT_EQ(sender.sink.placed[i].seq, receiver.sink.got[i].seq);
    EXPECT_EQ(sender.sink.placed[i].index, receiver.sink.got[i].index);
    EXPECT_EQ(sender.sink.placed[i].service, receiver.sink.got[i].service);
  }
}

/// Two senders send random messages; sizes, services and the size of units are random.
TEST(Packing, RandomTrafficArrivesByteExactAndInOrder) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    Bench a(1, Limits{}, 9'200), b(2, Limits{}, 9'200);
    Bench* senders[] = {&a, &b};
    std::vector<std::string> sent[2];
    std::uint64_t number = 1;
    for (int round = 0; round < 40; ++round) {
      const auto unit_bytes = static_cast<std::uint32_t>(random.between(64, 9'000));
      for (std::uint64_t i = random.below(6); i > 0; --i) {
        const std::size_t who = random.below(2);
        const std::size_t size = random.chance(0.05)  ? random.below(100'000)
                                 : random.chance(0.3) ? random.below(2 * unit_bytes)
                                                      : random.below(40);
        sent[who].push_back(pattern(size, ++number));
        senders[who]->submit(sent[who].back(), static_cast<Service>(random.below(4)));
      }
      for (std::uint64_t i = random.below(40); i > 0; --i) {
        if (auto unit = senders[random.below(2)]->order_one(unit_bytes)) {
          ASSERT_LE(unit->unit.size(), unit_bytes);
          for (Bench* each : senders) each->engine->effects->deliver(*unit);
        }
      }
      if (random.chance(0.2)) {
        for (Bench* each : senders) each->install(static_cast<std::uint64_t>(round) + 1);
      }
    }
    for (Bench* each : senders) each->order_all(1'000, {&a, &b});
    EXPECT_EQ(a.sink.got, b.sink.got);
    for (std::size_t who = 0; who < 2; ++who) {
      std::vector<std::string> got;
      for (const auto& each : a.sink.got) {
        if (each.sender == senders[who]->self) got.push_back(each.payload);
      }
      EXPECT_EQ(got, sent[who]) << "seed " << seed;
    }
  }
}

TEST(Packing, TheBacklogIsNearWhatIsThenBuilt) {
  for (std::size_t size : {1U, 100U, 1'379U, 1'380U, 50'000U}) {
    Bench bench;
    EXPECT_EQ(bench.engine->host->backlog_units(), 0U);
    for (int i = 0; i < 50; ++i) bench.submit(pattern(size, 1));
    const std::uint32_t guess = bench.engine->host->backlog_units();
    const std::size_t units = bench.order_all(kPackUnit, {&bench});
    EXPECT_GE(guess, 1U);
    EXPECT_LE(guess, 2 * units + 1) << size;
    EXPECT_GE(guess + 1, units / 2) << size;
  }
}

}  // namespace
}  // namespace peal::node::test
