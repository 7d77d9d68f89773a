// SPDX-License-Identifier: Apache-2.0
#include "io/receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "stations.h"

// Order, budget and memory of receiving. Real sockets are filled before they are read.

namespace peal::io {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const Station& station) {
  std::vector<std::string> texts;
  for (const auto& one : station.received) texts.emplace_back(one.text());
  return texts;
}

// On the loopback interface a datagram is in the receiver's socket when the send call returns.
TEST(Receive, PrefersTheToken) {
  Stations nodes(2);
  nodes[1].multicast(Lane::data, "d1");
  nodes[1].multicast(Lane::data, "d2");
  nodes[1].send(2, Lane::token, "t");
  nodes[2].preferred = Lane::token;
  nodes[2].turn();
  EXPECT_THAT(texts(nodes[2]), ElementsAre("t", "d1", "d2"));
}

TEST(Receive, PrefersData) {
  Stations nodes(2);
  nodes[1].send(2, Lane::token, "t");
  nodes[1].multicast(Lane::data, "d1");
  nodes[1].multicast(Lane::data, "d2");
  nodes[1].transport->flush();
  nodes[2].preferred = Lane::data;
  nodes[2].turn();
  EXPECT_THAT(texts(nodes[2]), ElementsAre("d1", "d2", "t"));
}

TEST(Receive, ChangesItsPreferenceInTheMiddleOfABatch) {
  Stations nodes(2);
  for (const char* text : {"d1", "d2", "d3", "d4"}) nodes[1].multicast(Lane::data, text);
  nodes[1].send(2, Lane::token, "t");
  nodes[2].preferred = Lane::data;
  nodes[2].on_received = [&](const Station::Received& one) {
    if (one.text() == "d2") nodes[2].preferred = Lane::token;
  };
  nodes[2].turn();
  EXPECT_THAT(texts(nodes[2]), ElementsAre("d1", "d2", "t", "d3", "d4"));
}

// If the receiver takes control and data in turn, heartbeats arrive even under constant data.
TEST(Receive, TakesControlAndDataInTurn) {
  Stations nodes(2);
  for (const char* text : {"d1", "d2", "d3", "d4"}) nodes[1].multicast(Lane::data, text);
  for (const char* text : {"c1", "c2"}) nodes[1].send(2, Lane::control, text);
  nodes[1].transport->flush();
  nodes[2].preferred = Lane::control;
  nodes[2].turn();
  EXPECT_THAT(texts(nodes[2]), ElementsAre("c1", "d1", "c2", "d2", "d3", "d4"));
}

TEST(Receive, SeesATokenThatArrivesWhileDataIsRead) {
  Stations nodes(2);
  nodes[1].multicast(Lane::data, "dd");
  nodes[1].multicast(Lane::data, "ddd");  // another size: a separate message
  nodes[1].transport->flush();
  nodes[2].preferred = Lane::token;
  nodes[2].on_received = [&](const Station::Received& one) {
    if (one.text() == "dd") nodes[1].send(2, Lane::token, "t");
  };
  nodes[2].turn();
  EXPECT_THAT(texts(nodes[2]), ElementsAre("dd", "t", "ddd"));
}

TEST(Receive, StopsAtItsBudgetAndGoesOn) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config.receive_budget = 10; });
  for (int i = 0; i < 25; ++i) nodes[1].multicast(Lane::data, std::string(100, 'x'));
  nodes[1].transport->flush();
  EXPECT_TRUE(nodes[2].turn().more);
  EXPECT_EQ(nodes[2].received.size(), 10U);
  EXPECT_TRUE(nodes[2].turn().more);
  EXPECT_FALSE(nodes[2].turn().more);
  EXPECT_EQ(nodes[2].received.size(), 25U);
}

TEST(Receive, ReadsTheTokenOverBudgetBeforeATimerFires) {
  for (const bool timers_due : {false, true}) {
    Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config.receive_budget = 2; });
    for (int i = 0; i < 5; ++i) nodes[1].multicast(Lane::data, "d");
    nodes[1].send(2, Lane::token, "t");
    nodes[2].preferred = Lane::data;
    const Progress progress = nodes[2].transport->receive({Clock::now(), timers_due}, nodes[2]);
    EXPECT_TRUE(progress.more);
    EXPECT_EQ(progress.drained, timers_due);
    EXPECT_EQ(nodes[2].count(Lane::token), timers_due ? 1U : 0U);
    EXPECT_EQ(nodes[2].count(Lane::data), 2U);
  }
}

TEST(Receive, SaysWhenTokensAndControlAreDrained) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) { config.receive_budget = 2; });
  for (int i = 0; i < 3; ++i) nodes[1].send(2, Lane::token, "t");
  EXPECT_FALSE(nodes[2].turn().drained);
  EXPECT_TRUE(nodes[2].turn().drained);
}

TEST(Receive, PacksDatagramsDensely) {
  Stations nodes(2);
  for (int i = 0; i < 60; ++i) nodes[1].multicast(Lane::data, std::string(100, 'x'));
  nodes[1].transport->flush();
  nodes[2].turn();
  ASSERT_EQ(nodes[2].received.size(), 60U);
  const std::byte* first = nodes[2].received.front().packet.data();
  const std::byte* last = nodes[2].received.back().packet.data();
  EXPECT_LT(last - first, 64 * 104);
}

TEST(Receive, FillsOddSlotsToTheLastByte) {
  Stations nodes(2, [](std::uint32_t, UdpConfig& config) {
    config.coalescing = Offload::off;
    config.packet_bytes_max = 2'049;
  });
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 64; ++i) {
    expected.emplace_back(i % 5 == 0 ? 100 : 2'049, static_cast<char>('a' + i % 26));
    nodes[1].multicast(Lane::data, expected.back());
  }
  nodes[1].transport->flush();
  nodes[2].turn();
  EXPECT_EQ(texts(nodes[2]), expected);
  EXPECT_LT(nodes[2].counters().receive_calls, 12U);
}

TEST(Receive, TakesTheLargestPacketsInTheSmallestSlabs) {
  for (const std::uint32_t largest : {16'360U, 65'507U}) {
    const auto adjust = [&](UdpConfig config) {
      config.coalescing = Offload::off;
      config.packet_bytes_max = largest;
      return config;
    };
    Station one(adjust(test_config(1, 2)));
    Station two(adjust(test_config(2, 2)), 8, UdpTransport::kSlabBytesMin);
    for (std::size_t i = 0; i < 10; ++i) {
      one.multicast(Lane::data, std::string(largest - i, static_cast<char>('a' + i)));
    }
    one.transport->flush();
    two.turn();
    ASSERT_EQ(two.received.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      EXPECT_EQ(two.received[i].text(), std::string(largest - i, static_cast<char>('a' + i)));
    }
  }
}

TEST(Receive, ClosesUpSmallDatagramsInLargeSlots) {
  Stations nodes(2);
  for (int i = 0; i < 60; ++i) nodes[1].send(2, Lane::token, "t" + std::to_string(i));
  nodes[2].turn();
  ASSERT_EQ(nodes[2].received.size(), 60U);
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(nodes[2].received[i].text(), "t" + std::to_string(i));
  }
  EXPECT_EQ(nodes[2].received[59].packet.data() - nodes[2].received[0].packet.data(), 59 * 64);
}

TEST(Receive, UsesASlabAgainThatNobodyKept) {
  Stations nodes(2);
  const std::byte* where = nullptr;
  for (int i = 0; i < 100; ++i) {
    nodes[1].multicast(Lane::data, std::string(1'000, 'x'));
    nodes[1].transport->flush();
    nodes[2].turn();
    ASSERT_EQ(nodes[2].received.size(), 1U);
    const std::byte* here = nodes[2].received.front().packet.data();
    if (where == nullptr) where = here;
    EXPECT_EQ(here, where);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(here) % 64, 0U);
    nodes[2].received.clear();
  }
}

TEST(Receive, StopsWithoutMemoryAndGoesOnWhenItReturns) {
  UdpConfig sender = test_config(1, 2);
  UdpConfig receiver = test_config(2, 2);
  receiver.receive_budget = 1'000;
  Station one(sender);
  Station two(receiver, 4, UdpTransport::kSlabBytesMin);
  // The packets need more than four slabs. The reader keeps every packet, so its buffers run out.
  const std::string large(1'400, 'x');
  std::size_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 40; ++i, ++sent) one.multicast(Lane::data, large);
    one.transport->flush();
    two.turn();
  }
  ASSERT_GT(two.counters().pool_exhausted, 0U);
  const std::size_t before = two.received.size();
  EXPECT_LT(before, sent);
  // Without memory, the receiver reports no work to do at once, but has a deadline to try again.
  EXPECT_FALSE(two.turn().more);
  ASSERT_TRUE(two.transport->next_deadline());
  EXPECT_EQ(two.received.size(), before);
  // Tokens have their own memory.
  one.send(2, Lane::token, "t");
  two.turn();
  EXPECT_EQ(two.count(Lane::token), 1U);

  std::size_t all = two.received.size();
  two.received.clear();
  const Instant end = Clock::now() + seconds(10);
  while (all < sent + 1 && Clock::now() < end) {
    two.turn();
    all += two.received.size();
    two.received.clear();
  }
  EXPECT_EQ(all, sent + 1);
  EXPECT_EQ(two.counters().drop_kernel, 0U);
  two.turn();
  EXPECT_FALSE(two.transport->next_deadline());
}

TEST(Receive, CountsWhatTheKernelDropped) {
  UdpConfig receiver = test_config(2, 2);
  receiver.receive_buffer_bytes = 8'192;
  UdpConfig sender = test_config(1, 2);
  sender.segmentation = Offload::off;
  Station one(sender);
  Station two(receiver);
  for (int i = 0; i < 200; ++i) one.multicast(Lane::data, std::string(1'000, 'x'));
  one.transport->flush();
  two.turn();
  // The kernel reports the number of dropped datagrams with the next datagram that arrives.
  one.multicast(Lane::data, "last");
  one.transport->flush();
  two.turn();
  EXPECT_EQ(two.received.back().text(), "last");
  EXPECT_GT(two.counters().drop_kernel, 0U);
  EXPECT_EQ(two.counters().drop_kernel + two.received.size(), 201U);
}

// A fake recvmmsg(2) that fails three times. The real one may report an error of one datagram.
int failing_calls = 0;
int failing_receive(int, mmsghdr*, unsigned, int, timespec*) {
  errno = failing_calls++ < 3 ? EIO : EAGAIN;
  return -1;
}

struct NoProbes : ProbeTaker {
  void on_probe(Instant, PeerIndex, bool, ByteView) override { ADD_FAILURE(); }
};

TEST(Receive, GoesOnAfterAnError) {
  failing_calls = 0;
  UdpCounters counters;
  const PeerTable peers(test_config(2, 2));
  BufferPool pool(UdpTransport::kSlabBytesMin, 4);
  Receiver::Options options;
  options.fds = {1'001, 1'002, -1};
  options.call = failing_receive;
  const OwnCopies own;
  Receiver receiver(options, pool, peers, counters, own, nullptr, nullptr);
  Station sink(test_config(2, 2));
  NoProbes probes;
  const Progress progress = receiver.receive({Clock::now(), false}, sink, probes);
  EXPECT_FALSE(progress.more);
  EXPECT_TRUE(progress.drained);
  EXPECT_EQ(counters.receive_calls, 5U);
  EXPECT_EQ(counters.receive_empty, 2U);
}

// A fake recvmmsg(2) that returns the node's own multicast once.
bool own_delivered = false;
int own_receive(int fd, mmsghdr* messages, unsigned, int, timespec*) {
  if (fd != 1'003 || std::exchange(own_delivered, true)) {
    errno = EAGAIN;
    return -1;
  }
  const Endpoint own = node_endpoint(2);
  msghdr& header = messages[0].msg_hdr;
  header.msg_namelen = to_sockaddr(own.with_port(static_cast<std::uint16_t>(own.port + 1)),
                                   *static_cast<sockaddr_storage*>(header.msg_name));
  header.msg_controllen = 0;
  messages[0].msg_len = 10;
  return 1;
}

TEST(Receive, DropsItsOwnMulticast) {
  own_delivered = false;
  UdpCounters counters;
  const PeerTable peers(test_config(2, 2));
  BufferPool pool(UdpTransport::kSlabBytesMin, 4);
  Receiver::Options options;
  options.fds = {1'001, 1'002, 1'003};
  options.call = own_receive;
  const OwnCopies own;
  Receiver receiver(options, pool, peers, counters, own, nullptr, nullptr);
  Station sink(test_config(2, 2));
  NoProbes probes;
  receiver.receive({Clock::now(), false}, sink, probes);
  EXPECT_TRUE(own_delivered);
  EXPECT_TRUE(sink.received.empty());
  EXPECT_EQ(counters.drop_own, 1U);
  EXPECT_EQ(counters.drop_unknown_source, 0U);
}

}  // namespace
}  // namespace peal::io
