// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <thread>

#include "members.h"

namespace peal::test {
namespace {

bool readable(int fd) {
  pollfd descriptor{fd, POLLIN, 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

TEST(MemberLimits, WhoDoesNotReadIsHeldBackAndLosesNothing) {
  Sites sites = start(1, [](Config& config) {
    config.receive_bytes_max = 1U << 20;
    config.submit_bytes_max = 4U << 20;
    config.message_bytes_max = 1U << 20;
  });
  ASSERT_EQ(sites.size(), 1U);
  Site& site = *sites[0];
  const std::string text = pattern(60'000, 1);
  std::size_t sent = 0;
  // Accepted messages wait in bounded queues. The queue to the reader holds 1 MiB, and the queue to
  // the engine 4 MiB. A few units are between the two queues.
  while (site.member->multicast_for(bytes_of(text), Service::agreed, 300ms)) ++sent;
  EXPECT_GE(sent, 50U);
  EXPECT_LE(sent, 250U);
  const auto refused = site.member->multicast(text, Service::agreed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::would_block);
  EXPECT_LE(site.member->status().unread_bytes, 8U << 20);
  ASSERT_TRUE(read_until(sites, [&] { return site.got.size() == sent; }));
  EXPECT_TRUE(site.member->multicast_for(bytes_of(text), Service::agreed, 60s));
  ASSERT_TRUE(read_until(sites, [&] { return site.got.size() == sent + 1; }));
  for (std::size_t i = 0; i <= sent; ++i) {
    ASSERT_EQ(site.got[i].number, i + 1);
    ASSERT_EQ(site.got[i].text, text);
  }
}

TEST(MemberLimits, AnInfinitePatienceWaits) {
  for (const Thread thread : {Thread::own, Thread::caller}) {
    Sites sites = start(1, [thread](Config& config) { config.thread = thread; });
    ASSERT_EQ(sites.size(), 1U);
    Member& member = *sites[0]->member;
    ASSERT_TRUE(member.multicast_for(bytes_of("x"), Service::agreed, kForever));
    const auto event = member.wait(kForever);
    ASSERT_TRUE(event) << "an infinite patience was over at once";
    EXPECT_TRUE(std::holds_alternative<Message>(*event));
    ASSERT_TRUE(member.multicast("y", Service::agreed));
    member.leave(kForever);
    std::size_t got = 0;
    for (auto next = member.next(); next; next = member.next()) {
      if (std::holds_alternative<Message>(*next)) ++got;
      const auto* end = std::get_if<Closed>(&*next);
      if (end != nullptr) {
        EXPECT_EQ(end->reason, "left on request");
      }
    }
    EXPECT_EQ(got, 1U);
  }
}

/// Unread messages refer to buffers that the network needs. Before free buffers become scarce, the
/// member copies unread messages out of their buffers.
TEST(MemberLimits, UnreadMessagesDoNotUseUpTheBuffers) {
  Sites sites = start(1, [](Config& config) { ring_of(config).tunables["max_gap"] = 64; });
  ASSERT_EQ(sites.size(), 1U);
  Site& site = *sites[0];
  constexpr std::size_t kCount = 12'000;  // messages; the pool has 1,152 buffers for their units
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::string text = pattern(1'000, i);
    const auto ticket = site.member->multicast_for(bytes_of(text), Service::agreed, 60s);
    ASSERT_TRUE(ticket) << i << ": " << ticket.error().message;
  }
  std::uint64_t copied = 0;
  for (const auto& [name, value] : site.member->status().counters) {
    if (name == "member_copied_units") copied = value;
  }
  EXPECT_GT(copied, 0U);
  ASSERT_TRUE(read_until(sites, [&] { return site.got.size() == kCount; }));
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(site.got[i].text, pattern(1'000, i));
}

TEST(MemberLimits, ASlowReaderHoldsTheOthersBackToo) {
  Sites sites = start(2, [](Config& config) {
    config.receive_bytes_max = 1U << 20;
    config.submit_bytes_max = 2U << 20;
    config.message_bytes_max = 100'000;
    ring_of(config).tunables["max_gap"] = 128;
  });
  ASSERT_EQ(sites.size(), 2U);
  const std::string text = pattern(50'000, 1);
  std::size_t sent = 0;
  // The sender reads its events; the other member reads none.
  while (sent < 1'000 && sites[0]->member->multicast_for(bytes_of(text), Service::agreed, 500ms)) {
    ++sent;
    while (sites[0]->take(0ms)) {
    }
  }
  EXPECT_LT(sent, 200U);
  EXPECT_EQ(sites[0]->members(), 2U);  // the sender waits; the slow reader is not excluded
  ASSERT_TRUE(read_until(
      sites, [&] { return sites[0]->got.size() == sent && sites[1]->got.size() == sent; }));
  EXPECT_EQ(sites[1]->got.back().number, sent);
}

TEST(MemberLimits, AMessageAboveTheMaximumIsTooLarge) {
  Sites sites = start(1, [](Config& config) { config.message_bytes_max = 1'000; });
  ASSERT_EQ(sites.size(), 1U);
  Member& member = *sites[0]->member;
  const auto refused = member.multicast(std::string(1'001, 'x'), Service::agreed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_NE(refused.error().message.find("1000"), std::string::npos);
  const std::string largest(1'000, 'x');
  EXPECT_FALSE(member.multicast_for(bytes_of(largest + "x"), Service::agreed, 1s));
  const auto taken = member.multicast(largest, Service::agreed);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken.value().number, 1U);
}

TEST(MemberLimits, AfterLeaveNothingIsTakenAndWhatCameCanBeRead) {
  Sites sites = start(1);
  ASSERT_EQ(sites.size(), 1U);
  Site& site = *sites[0];
  ASSERT_TRUE(site.member->multicast("last words", Service::agreed));
  std::thread other([&] { site.member->leave(10s); });
  site.member->leave(10s);
  other.join();
  const auto refused = site.member->multicast("too late", Service::agreed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::closed);
  EXPECT_FALSE(site.member->multicast_for(bytes_of("x"), Service::agreed, 10s));
  while (site.take(0ms)) {
  }
  ASSERT_EQ(site.got.size(), 1U);
  EXPECT_EQ(site.got[0].text, "last words");
  ASSERT_EQ(site.closed.size(), 1U);
  EXPECT_FALSE(site.member->wait(1h));  // no event can come any more
  EXPECT_FALSE(site.member->status().id.empty());
}

TEST(MemberLimits, TheDescriptorIsReadableWhileThereAreEvents) {
  Sites sites = start(1);
  ASSERT_EQ(sites.size(), 1U);
  Member& member = *sites[0]->member;
  while (member.next()) {
  }
  EXPECT_FALSE(readable(member.fd()));
  ASSERT_TRUE(member.multicast("a", Service::agreed));
  pollfd descriptor{member.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&descriptor, 1, 60'000), 1);
  EXPECT_TRUE(readable(member.fd()));
  EXPECT_TRUE(member.next());
  while (member.next()) {
  }
  EXPECT_FALSE(readable(member.fd()));
}

TEST(MemberLimits, APayloadStaysUntilTheNextCall) {
  Sites sites = start(1);
  ASSERT_EQ(sites.size(), 1U);
  Member& member = *sites[0]->member;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(member.multicast(pattern(100, 7), Service::agreed));
  for (int i = 0; i < 100;) {
    auto event = member.wait(60s);
    ASSERT_TRUE(event);
    if (const auto* message = std::get_if<Message>(&*event)) {
      EXPECT_EQ(message->text(), pattern(100, 7));
      ++i;
    }
  }
}

TEST(MemberLimits, StatusSaysHowItIs) {
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_TRUE(sites[0]->member->multicast("a", Service::agreed));
  ASSERT_TRUE(read_until(sites, [&] { return sites[1]->got.size() == 1; }));
  const Status status = sites[0]->member->status();
  EXPECT_EQ(status.id, sites[0]->member->id());
  EXPECT_EQ(status.id.substr(0, 3), "n1.");
  EXPECT_EQ(status.view, sites[0]->views.back().id);
  EXPECT_EQ(status.members, sites[0]->views.back().members);
  EXPECT_FALSE(status.multicast.empty());
  std::uint64_t delivered = 0, token_packets = 0;
  for (const auto& [name, value] : status.counters) {
    if (name == "node_delivered_messages") delivered = value;
    if (name == "udp_token_packets_out") token_packets = value;
  }
  EXPECT_EQ(delivered, 1U);
  EXPECT_GT(token_packets, 0U);
}

TEST(MemberLimits, AMemberMayBeMoved) {
  Sites sites = start(1);
  ASSERT_EQ(sites.size(), 1U);
  Member moved = std::move(*sites[0]->member);
  EXPECT_TRUE(moved.multicast("a", Service::agreed));
  *sites[0]->member = std::move(moved);
  ASSERT_TRUE(read_until(sites, [&] { return sites[0]->got.size() == 1; }));
}

}  // namespace
}  // namespace peal::test
