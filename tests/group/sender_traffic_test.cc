// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "group/message.h"
#include "group/traffic.h"

// Records of one sender each, for engines whose order holds only within a company. Each part of the
// members has delivered a prefix of each sender's messages. The messages of different senders come
// in any order.

namespace peal::group {
namespace {

const ViewId kFirstView{7, {NodeId{1}, 100}};
const ViewId kSecondView{8, {NodeId{1}, 100}};
const std::vector<MemberId> kSenders{{NodeId{1}, 100}, {NodeId{2}, 50}, {NodeId{9}, 1}};

/// The messages of one sender: for each message, the names to which it is sent.
using MessagesOf = std::vector<std::set<std::string>>;

struct SentTo {
  std::map<MemberId, MessagesOf> sent;
  std::map<MemberId, std::uint64_t> before;  ///< the sender's messages in earlier views
};

SentTo random_history(Random& random) {
  SentTo history;
  for (const MemberId& sender : kSenders) {
    history.before[sender] = random.below(5);
    MessagesOf& all = history.sent[sender];
    all.resize(random.below(6));
    for (auto& names : all) {
      for (std::uint64_t n = 1 + random.below(2); n > 0; --n) {
        names.insert(std::string(1, static_cast<char>('f' + random.below(4))));
      }
    }
  }
  return history;
}

/// The number of each sender's messages that a part delivered.
using Share = std::map<MemberId, std::size_t>;

/// The records of a part that delivered its share. Messages of different senders come in a random
/// order.
Traffic known_to_share(const SentTo& history, const Share& part, Random& random) {
  TrafficLog log(0);
  log.begin(kFirstView);
  Share done;
  std::vector<MemberId> open = kSenders;
  while (!open.empty()) {
    const std::size_t chosen = random.below(open.size());
    const MemberId sender = open[chosen];
    if (done[sender] == part.at(sender)) {
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      continue;
    }
    const std::size_t i = done[sender]++;
    for (const std::string& name : history.sent.at(sender)[i]) {
      log.note_of(sender, history.before.at(sender) + i + 1, name);
    }
  }
  log.begin(kSecondView);
  return log.known();
}

TEST(SenderTraffic, IsExactWhateverTheOrderOfEachPart) {
  std::uint64_t gaps = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Random random(seed);
    const SentTo history = random_history(random);
    std::vector<Share> parts(3);
    std::vector<Traffic> known;
    for (Share& part : parts) {
      for (const MemberId& sender : kSenders) {
        part[sender] = random.below(history.sent.at(sender).size() + 1);
      }
      known.push_back(known_to_share(history, part, random));
    }
    Traffic all, backwards;
    meet(known, 0, all);
    meet({known[2], known[1], known[0]}, 0, backwards);
    ASSERT_EQ(all, backwards) << seed;
    for (std::size_t own = 0; own < parts.size(); ++own) {
      std::set<std::string> wanted;
      for (const MemberId& sender : kSenders) {
        std::size_t most = 0;
        for (const Share& part : parts) most = std::max(most, part.at(sender));
        for (std::size_t i = parts[own].at(sender); i < most; ++i) {
          const auto& names = history.sent.at(sender)[i];
          wanted.insert(names.begin(), names.end());
        }
      }
      Traffic either;
      const Missed missed = meet(known, own, either);
      ASSERT_FALSE(missed.every_name);
      ASSERT_EQ(std::set<std::string>(missed.names.begin(), missed.names.end()), wanted) << seed;
      ++(wanted.empty() ? none : gaps);
    }
  }
  EXPECT_GT(gaps, 1'000U);
  EXPECT_GT(none, 1'000U);
}

TEST(SenderTraffic, TooManyNamesCountAsEveryNameOfThatSender) {
  TrafficLog log(0);
  log.begin(kFirstView);
  log.note_of(kSenders[0], 1, "few");
  for (std::uint64_t i = 1; i <= kTrafficNamesMax; ++i) {
    log.note_of(kSenders[1], i, "n" + std::to_string(i));
  }
  log.note_of(kSenders[0], 2, "few");
  log.begin(kSecondView);
  const std::vector<ViewTraffic>& views = log.known().views;
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].names, (std::vector<ViewTraffic::Name>{{"few", 2}}));
  EXPECT_TRUE(views[1].every_name);
  EXPECT_TRUE(views[1].names.empty());
  EXPECT_EQ(views[1].upto, (Place{kTrafficNamesMax, 0}));
}

TEST(SenderTraffic, AViewIsForgottenWhole) {
  TrafficLog log(0);
  for (std::uint64_t number = 1; number <= 10; ++number) {
    log.begin({number, kSenders[0]});
    for (std::uint32_t sender = 1; sender <= 100; ++sender) {
      log.note_of({NodeId{sender}, 5}, number, "g");
    }
  }
  log.begin({11, kSenders[0]});
  const Traffic& known = log.known();
  EXPECT_EQ(known.forgotten.upto, (ViewId{8, kSenders[0]}));
  EXPECT_EQ(known.views.size(), 200U);
  EXPECT_EQ(known.views.front().view.number, 9U);
  // One daemon has forgotten all records of some views, and the other one still has records of
  // them. Neither missed a message.
  TrafficLog both(0);
  both.adopt(Traffic(known));
  both.keep({10, kSenders[0]}, {11, kSenders[0]});
  Traffic all;
  EXPECT_TRUE(meet({known, both.known()}, 0, all).empty());
  EXPECT_TRUE(meet({known, both.known()}, 1, all).empty());
}

TEST(SenderTraffic, RecordsThatNoDaemonWritesAreRefused) {
  const auto decoded = [](const std::function<void(ViewTraffic&)>& change) {
    ViewTraffic record;
    record.view = kFirstView;
    record.sender = kSenders[1];
    record.upto = {9, 0};
    record.names = {{"g", 9}};
    change(record);
    DomainTraffic message{kFirstView, {{0, {}, {record}}}};
    std::vector<std::byte> bytes;
    encode(message, bytes);
    DomainTraffic read;
    return wire::drop_name(decode(bytes, read));
  };
  EXPECT_EQ(decoded([](ViewTraffic&) {}), "none");
  EXPECT_EQ(decoded([](ViewTraffic& it) { it.upto = {9, 1}; }), "bad_value");
  EXPECT_EQ(decoded([](ViewTraffic& it) { it.late = {{{10, 0}, "g"}}; }), "bad_value");
  EXPECT_EQ(decoded([](ViewTraffic& it) {
              it.upto = {};
              it.names = {};
              it.late = {{{10, 0}, "g"}};
            }),
            "bad_value");
  const auto vague = [](ViewTraffic& it) {
    it.every_name = true;
    it.names = {};
  };
  EXPECT_EQ(decoded(vague), "none");
  EXPECT_EQ(decoded([&](ViewTraffic& it) {
              vague(it);
              it.late_digest = 1;
            }),
            "bad_value");
}

}  // namespace
}  // namespace peal::group
