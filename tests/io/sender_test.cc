// SPDX-License-Identifier: Apache-2.0
#include "io/sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "stations.h"

namespace peal::io {
namespace {

constexpr int kTokenFd = 1'001;  // never passed to the kernel
constexpr int kDataFd = 1'002;

/// A fake kernel. It records every message, and answers as `script` says.
struct FakeKernel {
  struct Sent {
    int fd;
    std::string to;
    std::vector<std::string> packets;
    std::uint16_t segment;  // 0: the kernel must not cut the message
  };
  std::vector<Sent> sent;
  std::vector<std::size_t> offered;  // per call: the number of messages offered
  std::deque<int> script;            // per call: messages to take, or -errno; if empty: take all
  int refuse_segments = 0;           // errno for messages that must be cut; 0: no error

  std::string text() const {
    std::string text;
    for (const Sent& one : sent) {
      text += one.fd == kTokenFd ? "T" : "D";
      text += "[" + one.to + "]";
      for (const std::string& packet : one.packets) text += packet + ",";
    }
    return text;
  }
};
FakeKernel* kernel = nullptr;

std::uint16_t segment_of(msghdr& header) {
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  if (item == nullptr) return 0;
  EXPECT_EQ(item->cmsg_level, IPPROTO_UDP);
  EXPECT_EQ(item->cmsg_type, UDP_SEGMENT);
  std::uint16_t segment = 0;
  std::memcpy(&segment, CMSG_DATA(item), sizeof segment);
  return segment;
}

std::string name_of(const msghdr& header) {
  sockaddr_storage storage{};
  std::memcpy(&storage, header.msg_name, header.msg_namelen);
  const Endpoint at = from_sockaddr(storage);
  if (at.is_multicast()) return "*";
  return std::to_string((at.port - 5'000) / 2);
}

int fake_send(int fd, mmsghdr* messages, unsigned count, int /*flags*/) {
  kernel->offered.push_back(count);
  int take = static_cast<int>(count);
  if (!kernel->script.empty()) {
    take = std::min(take, kernel->script.front());
    kernel->script.pop_front();
  }
  int taken = 0;
  for (; taken < take; ++taken) {
    msghdr& header = messages[taken].msg_hdr;
    const std::uint16_t segment = segment_of(header);
    if (segment != 0 && kernel->refuse_segments != 0) {
      if (taken > 0) return taken;
      errno = kernel->refuse_segments;
      return -1;
    }
    FakeKernel::Sent sent{fd, name_of(header), {}, segment};
    for (std::size_t i = 0; i < header.msg_iovlen; ++i) {
      sent.packets.emplace_back(static_cast<const char*>(header.msg_iov[i].iov_base),
                                header.msg_iov[i].iov_len);
    }
    kernel->sent.push_back(std::move(sent));
  }
  if (take < 0) {
    errno = -take;
    return -1;
  }
  return taken;
}

/// The sender of node 1 of four nodes. It uses unicast only, until a test sets another route.
class SenderTest : public testing::Test {
 protected:
  SenderTest() : peers_(test_config(1, 4)), pool_(65'536, 600) {
    kernel = &kernel_;
    options_.token_fd = kTokenFd;
    options_.data_fd = kDataFd;
    options_.group = Endpoint::v4(239, 1, 1, 1, 9'999);
    options_.queue_packets = 256;
    options_.segmentation = true;
    options_.call = fake_send;
  }
  ~SenderTest() override { kernel = nullptr; }

  Sender& sender() {
    if (!sender_) {
      sender_.emplace(options_, peers_, counters_, own_, faults_ ? &*faults_ : nullptr,
                      sealer_ ? &*sealer_ : nullptr);
      route({0, 1, 2});
    }
    return *sender_;
  }
  void route(std::initializer_list<PeerIndex> unicast, bool multicast = false) {
    DataRoute& route = sender_->route();
    route.multicast = multicast;
    route.unicast_count = 0;
    for (const PeerIndex peer : unicast) route.unicast[route.unicast_count++] = peer;
  }
  BufferRef packet(const std::string& text) {
    BufferRef made = pool_.take(0, static_cast<std::uint32_t>(text.size()));
    if (!text.empty()) std::memcpy(made.data(), text.data(), text.size());
    return made;
  }
  void data(const std::string& text) { sender().push_to_all(Lane::data, packet(text)); }
  void token(const std::string& text) { sender().push_to(0, Lane::token, packet(text)); }

  FakeKernel kernel_;
  Sender::Options options_;
  PeerTable peers_;
  UdpCounters counters_;
  OwnCopies own_{true, true, 0};
  std::optional<FaultInjector> faults_;
  std::optional<seal::Sealer> sealer_;
  BufferPool pool_;
  std::optional<Sender> sender_;
};

TEST_F(SenderTest, KeepsTheOrderOfTheCallsAcrossLanes) {
  sender();
  route({}, true);
  data("a");
  data("b");
  token("t");
  data("c");
  sender().push_to_all(Lane::control, packet("j"));
  data("d");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[*]a,b,T[2]t,D[*]c,T[2]j,T[3]j,T[4]j,D[*]d,");
  EXPECT_EQ(sender().queued(), 0U);
  EXPECT_EQ(pool_.free_count(), pool_.slab_count());
}

TEST_F(SenderTest, SendsATokenAtOnceAndWhatIsBeforeIt) {
  data("a");
  EXPECT_TRUE(kernel_.sent.empty());
  token("t");
  EXPECT_EQ(kernel_.sent.size(), 4U);
}

TEST_F(SenderTest, FansOutAlongTheRoute) {
  sender();
  route({2}, true);
  data("a");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[*]a,D[4]a,");
  EXPECT_EQ(counters_.data_packets_out, 2U);
  EXPECT_EQ(counters_.data_multicast_out, 1U);
  EXPECT_EQ(counters_.data_bytes_out, 2U);
}

TEST_F(SenderTest, CountsTheCopiesThatComeBack) {
  sender();
  route({2}, true);
  data("a");
  data("b");
  sender().flush();
  EXPECT_EQ(own_.count, 1U);
  own_.whole = false;
  data("a");
  data("b");
  sender().flush();
  EXPECT_EQ(own_.count, 3U);
}

TEST_F(SenderTest, CutsRunsWhereSizesChange) {
  sender();
  route({0});
  for (const char* text : {"aa", "bb", "c", "dd", "eee", "fff"}) data(text);
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]aa,bb,c,D[2]dd,D[2]eee,fff,");
  EXPECT_EQ(kernel_.sent[0].segment, 2);
  EXPECT_EQ(kernel_.sent[1].segment, 0);
  EXPECT_EQ(kernel_.sent[2].segment, 3);
  EXPECT_EQ(kernel_.offered, std::vector<std::size_t>{3});
  EXPECT_EQ(counters_.segmented_messages, 2U);
  EXPECT_EQ(counters_.segmented_packets, 5U);
}

TEST_F(SenderTest, KeepsRunsWithinTheKernelsLimits) {
  sender();
  route({0});
  for (int i = 0; i < 150; ++i) data("x");
  sender().flush();
  for (const auto& sent : kernel_.sent) EXPECT_LE(sent.packets.size(), 64U);
  kernel_.sent.clear();
  const std::string large(1'400, 'y');
  for (int i = 0; i < 100; ++i) data(large);
  sender().flush();
  std::size_t packets = 0;
  for (const auto& sent : kernel_.sent) {
    EXPECT_LE(sent.packets.size() * large.size(), 65'000U);
    packets += sent.packets.size();
  }
  EXPECT_EQ(packets, 100U);
}

TEST_F(SenderTest, DoesNotMixDestinationsInARun) {
  sender();
  route({0});
  data("a");
  sender().push_to(2, Lane::data, packet("b"));
  sender().push_to(2, Lane::data, packet("c"));
  data("d");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[4]b,c,D[2]d,");
}

TEST_F(SenderTest, GathersWhatIsForOnePeer) {
  sender();
  for (const char* round : {"1", "2", "3"}) {
    for (const PeerIndex peer : {PeerIndex{2}, PeerIndex{0}, PeerIndex{1}}) {
      sender().push_to(peer, Lane::data,
                       packet(std::string(1, static_cast<char>('a' + peer)) + round));
    }
  }
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[4]c1,c2,c3,D[2]a1,a2,a3,D[3]b1,b2,b3,");
  EXPECT_EQ(counters_.segmented_packets, 9U);
}

TEST_F(SenderTest, GathersNothingAcrossWhatIsForEveryoneOrOfAnotherLane) {
  sender();
  route({1});
  sender().push_to(0, Lane::data, packet("a1"));
  sender().push_to(2, Lane::data, packet("c1"));
  sender().push_to(0, Lane::data, packet("a2"));
  data("all");
  sender().push_to(2, Lane::data, packet("c2"));
  sender().push_to(0, Lane::control, packet("w"));
  sender().push_to(2, Lane::data, packet("c3"));
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a1,a2,D[4]c1,D[3]all,D[4]c2,T[2]w,D[4]c3,");
}

TEST_F(SenderTest, GathersEmptyPacketsToo) {
  sender();
  sender().push_to(0, Lane::data, {});
  sender().push_to(2, Lane::data, packet("c"));
  sender().push_to(0, Lane::data, packet("a"));
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2],D[2]a,D[4]c,");
}

TEST_F(SenderTest, SendsOneByOneWithoutSegmentation) {
  options_.segmentation = false;
  sender();
  route({0});
  data("a");
  data("b");
  data("");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[2]b,D[2],");
  EXPECT_EQ(kernel_.offered, std::vector<std::size_t>{3});
}

TEST_F(SenderTest, KeepsWhatTheKernelHasNoRoomFor) {
  sender();
  route({0, 1});
  data("a");
  data("bb");
  kernel_.script = {1, -EAGAIN};
  sender().flush();
  EXPECT_EQ(sender().blocked_fd(), kDataFd);
  EXPECT_EQ(kernel_.text(), "D[2]a,");
  token("t");  // the token waits behind the data
  EXPECT_EQ(kernel_.text(), "D[2]a,");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[3]a,D[2]bb,D[3]bb,T[2]t,");
  EXPECT_EQ(sender().blocked_fd(), -1);
  EXPECT_EQ(counters_.send_blocked, 1U);
}

TEST_F(SenderTest, BoundsItsQueue) {
  sender();
  route({0});
  for (int i = 0; i < 300; ++i) {
    kernel_.script = {-EAGAIN};
    data(std::to_string(1'000 + i));
    if (i == 0) sender().flush();
  }
  EXPECT_EQ(sender().queued(), 256U);
  EXPECT_EQ(counters_.drop_queue_full, 44U);
  EXPECT_EQ(pool_.free_count(), pool_.slab_count() - 256);
  kernel_.script.clear();
  sender().flush();
  EXPECT_EQ(counters_.data_packets_out, 256U);
  EXPECT_EQ(kernel_.sent.back().packets.back(), "1255");
  EXPECT_EQ(pool_.free_count(), pool_.slab_count());
}

TEST_F(SenderTest, GoesOnAfterAnError) {
  options_.segmentation = false;
  sender();
  route({0, 1, 2});
  data("a");
  kernel_.script = {1, -ENETUNREACH, 1};
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[4]a,");
  EXPECT_EQ(counters_.drop_send_error, 1U);
  data("b");
  kernel_.script = {-EMSGSIZE, -ENOBUFS, -EINTR, 1};
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[4]a,D[4]b,");
  EXPECT_EQ(counters_.drop_too_big, 1U);
  EXPECT_EQ(counters_.drop_send_error, 2U);
}

TEST_F(SenderTest, FallsBackWhereTheKernelDoesNotCut) {
  for (const int error : {EMSGSIZE, EINVAL, EIO, EOPNOTSUPP}) {
    sender_.reset();
    kernel_ = {};
    counters_ = {};
    kernel_.refuse_segments = error;
    sender();
    route({0, 1});
    data("a");
    data("b");
    data("cc");
    EXPECT_TRUE(sender().segmentation());
    sender().flush();
    EXPECT_EQ(kernel_.text(), "D[2]a,D[2]b,D[3]a,D[3]b,D[2]cc,D[3]cc,");
    EXPECT_EQ(counters_.segmentation_refused, 2U);
    EXPECT_EQ(counters_.data_packets_out, 6U);
    EXPECT_FALSE(sender().segmentation());
    data("d");
    data("e");
    sender().flush();
    EXPECT_EQ(counters_.segmentation_refused, 2U);
    EXPECT_EQ(counters_.data_packets_out, 10U);
  }
}

TEST_F(SenderTest, DoesNotBlameCuttingForPacketsThatAreTooBigAnyway) {
  sender();
  route({0});
  data("a");
  data("b");
  kernel_.script = {-EMSGSIZE, -EMSGSIZE, -EMSGSIZE};
  sender().flush();
  EXPECT_EQ(counters_.drop_too_big, 2U);
  EXPECT_TRUE(sender().segmentation());
  data("c");
  data("d");
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]c,d,");
}

TEST_F(SenderTest, CountsASendThatTookNothing) {
  options_.segmentation = false;
  sender();
  route({0});
  data("a");
  kernel_.script = {0};
  errno = 0;
  sender().flush();
  EXPECT_EQ(counters_.drop_send_error, 1U);
  EXPECT_EQ(sender().queued(), 0U);
}

TEST_F(SenderTest, SendsToTheLargestCluster) {
  UdpConfig config = test_config(1, 128);
  PeerTable peers(config);
  Sender sender(options_, peers, counters_, own_, nullptr, nullptr);
  for (int i = 0; i < 5; ++i) sender.push_to_all(Lane::control, packet("j"));
  sender.flush();
  EXPECT_EQ(counters_.control_packets_out, 5U * 127U);
  EXPECT_EQ(kernel_.sent.size(), 5U * 127U);
}

TEST_F(SenderTest, DropsNothingWithoutDestinations) {
  sender();
  route({});
  data("a");
  sender().flush();
  EXPECT_TRUE(kernel_.sent.empty());
  EXPECT_EQ(sender().queued(), 0U);
}

TEST_F(SenderTest, InjectsLossPerPacketAndDestination) {
  Faults faults;
  faults.drop_out = 0.5;
  faults_.emplace(faults, 3);
  sender();
  route({0, 1}, true);
  for (int i = 0; i < 200; ++i) data("x");
  sender().flush();
  EXPECT_EQ(counters_.data_packets_out + counters_.drop_fault_out, 600U);
  EXPECT_GT(counters_.drop_fault_out, 220U);
  EXPECT_LT(counters_.drop_fault_out, 380U);
}

TEST_F(SenderTest, MutesOneNodeOnOneLane) {
  Faults faults;
  faults.mute_to = {NodeId{3}};
  faults.only = Lane::data;
  faults_.emplace(faults, 3);
  data("a");
  sender().push_to_all(Lane::control, packet("j"));
  sender().flush();
  EXPECT_EQ(kernel_.text(), "D[2]a,D[4]a,T[2]j,T[3]j,T[4]j,");
}

/// The sender seals its packets. `opener_` opens them at node 2.
class SealedSenderTest : public SenderTest {
 protected:
  SealedSenderTest() : opener_(keys_of({1}), 7, {{2}, 1}, std::vector<NodeId>{{1}}) {
    sealer_.emplace(keys_of({1}), 7, seal::Incarnation{{{1}, 5}, {}});
  }
  /// The plain text of a datagram, or the reason why it was refused.
  std::string opened(std::string datagram) {
    const seal::Opened opened =
        opener_.open({reinterpret_cast<std::byte*>(datagram.data()), datagram.size()});
    if (opened.reason != seal::Refusal::none) return std::string(refusal_name(opened.reason));
    return std::string(as_text(opened.plain));
  }
  seal::Opener opener_;
};

TEST_F(SealedSenderTest, SealsOncePerPacketWhoeverItGoesTo) {
  sender();
  route({0, 1}, true);
  sender().push_to_all(Lane::control, packet("hello"));
  data("a");
  data("b");
  sender().flush();
  ASSERT_EQ(kernel_.sent.size(), 6U);
  for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(kernel_.sent[i].packets, kernel_.sent[0].packets);
  for (std::size_t i = 4; i < 6; ++i) EXPECT_EQ(kernel_.sent[i].packets, kernel_.sent[3].packets);
  EXPECT_EQ(opened(kernel_.sent[0].packets[0]), "hello");
  ASSERT_EQ(kernel_.sent[3].packets.size(), 2U);
  EXPECT_EQ(kernel_.sent[3].segment, 1 + seal::overhead(Lane::data));
  EXPECT_EQ(opened(kernel_.sent[3].packets[0]), "a");
  EXPECT_EQ(opened(kernel_.sent[3].packets[1]), "b");
  EXPECT_EQ(counters_.data_bytes_out, 3 * 2 * (1 + seal::overhead(Lane::data)));
}

// The short header of data names no receiver, so node 2 can open data for another node.
TEST_F(SealedSenderTest, SealsDataForOnePeerAsForEveryone) {
  sender().push_to_all(Lane::control, packet("hello"));
  sender().push_to(1, Lane::data, packet("for one"));
  sender().push_to(1, Lane::token, packet("for one alone"));
  sender().flush();
  ASSERT_EQ(kernel_.sent.size(), 5U);
  EXPECT_EQ(opened(kernel_.sent[0].packets[0]), "hello");
  EXPECT_EQ(opened(kernel_.sent[3].packets[0]), "for one");
  EXPECT_EQ(opened(kernel_.sent[4].packets[0]), "other_receiver");
}

TEST_F(SealedSenderTest, SealsAnewWhatIsSentAgain) {
  const BufferRef kept = packet("kept");
  sender().push_to(0, Lane::token, kept);
  sender().push_to(0, Lane::token, kept);
  ASSERT_EQ(kernel_.sent.size(), 2U);
  EXPECT_NE(kernel_.sent[0].packets, kernel_.sent[1].packets);
  EXPECT_EQ(as_text(kept.view()), "kept");
  EXPECT_EQ(opened(kernel_.sent[0].packets[0]), "kept");
  EXPECT_EQ(opened(kernel_.sent[1].packets[0]), "kept");
}

TEST_F(SealedSenderTest, WhatTheKernelDidNotTakeLeavesAsItWasSealed) {
  sender();
  kernel_.script = {-EAGAIN};
  sender().push_to(0, Lane::control, packet("late"));
  sender().flush();
  EXPECT_TRUE(kernel_.sent.empty());
  sender().flush();
  ASSERT_EQ(kernel_.sent.size(), 1U);
  EXPECT_EQ(opened(kernel_.sent[0].packets[0]), "late");
}

TEST_F(SealedSenderTest, ABatchHoldsAsMuchAsItsRoomForSealedPackets) {
  sender();
  route({0});
  kernel_.script = {-EAGAIN};
  const std::string large(60'000, 'x');
  data("first");  // the kernel refuses this packet at first, so that later ones form batches
  sender().flush();
  for (int i = 0; i < 12; ++i) data(large + static_cast<char>('a' + i));
  sender().flush();
  ASSERT_EQ(kernel_.sent.size(), 13U);
  EXPECT_EQ(kernel_.offered.size(), 2U + 3U) << "at most four of these in one batch";
}

TEST_F(SealedSenderTest, DropsWhatNoDatagramHolds) {
  sender().push_to(0, Lane::control, packet(std::string(65'442, 'x')));
  sender().push_to(0, Lane::control, packet(std::string(65'441, 'x')));
  sender().flush();
  EXPECT_EQ(counters_.drop_too_big, 1U);
  ASSERT_EQ(kernel_.sent.size(), 1U);
  EXPECT_EQ(kernel_.sent[0].packets[0].size(), 65'507U);
}

TEST_F(SenderTest, WhatWaitsGoesToThoseForWhomItIsWhenPeersMove) {
  sender();
  kernel_.script = {2, -EAGAIN};
  for (PeerIndex peer = 0; peer < 3; ++peer) sender().push_to(peer, Lane::control, packet("old"));
  sender().flush();  // the third message is not sent
  EXPECT_EQ(sender().blocked_fd(), kTokenFd);
  for (PeerIndex peer = 0; peer < 3; ++peer) sender().push_to(peer, Lane::control, packet("new"));
  sender().push_to_all(Lane::control, packet("all"));
  std::vector<Peer> nodes = test_config(1, 4).nodes;
  nodes.erase(nodes.begin() + 1);  // removes node 2
  sender().move_peers(peers_.set_nodes(nodes));
  EXPECT_EQ(counters_.drop_queue_full, 1U);
  EXPECT_EQ(counters_.drop_unknown_peer, 1U);
  EXPECT_EQ(sender().queued(), 3U);
  sender().flush();
  EXPECT_EQ(kernel_.text(), "T[2]old,T[3]old,T[3]new,T[4]new,T[3]all,T[4]all,");
  EXPECT_EQ(pool_.free_count(), pool_.slab_count());
}

}  // namespace
}  // namespace peal::io
