// SPDX-License-Identifier: Apache-2.0
#include "group/message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "examine.h"
#include "samples.h"

namespace peal::group::test {
namespace {

using wire::Drop;
using Bytes = std::vector<std::byte>;

TEST(GroupNames, AreWhatTheRulesSay) {
  const std::string longest(kNameBytesMax, 'n');
  for (const std::string& good : {std::string("g"), std::string("a b"), std::string("a#b"),
                                  std::string("\xc3\xa9"), longest}) {
    EXPECT_TRUE(is_group_name(good)) << good;
    EXPECT_TRUE(is_target(good)) << good;
  }
  for (const std::string& bad : {std::string(), std::string("#g"), std::string("a\nb"),
                                 std::string("a\x7f"), std::string("a\0b", 3), longest + "n"}) {
    EXPECT_FALSE(is_group_name(bad)) << bad;
    EXPECT_FALSE(is_target(bad)) << bad;
    EXPECT_FALSE(is_client_name(bad)) << bad;
  }
  EXPECT_TRUE(is_client_name("feed 7"));
  EXPECT_FALSE(is_client_name("a#b"));
  const std::string client(kClientNameBytesMax, 'c');
  EXPECT_TRUE(is_client_name(client));
  EXPECT_FALSE(is_client_name(client + "c"));
  // The private name of a client is valid if the name of its node has at most 94 bytes.
  EXPECT_TRUE(is_target("#" + client + "#" + std::string(kNameBytesMax - 2 - client.size(), 'n')));
  EXPECT_FALSE(is_target("#" + client + "#" + std::string(kNameBytesMax - 1 - client.size(), 'n')));
  EXPECT_TRUE(is_target("#feed#a"));
  for (const char* bad : {"#", "##", "#feed", "#feed#", "##a", "#feed#a#", "#fe\ned#a"}) {
    EXPECT_FALSE(is_target(bad)) << bad;
  }
}

TEST(GroupMessages, ComeBackAsTheyWere) {
  for (const Sample& each : samples()) {
    SCOPED_TRACE(each.name);
    const Verdict verdict = examine(each.bytes);
    EXPECT_EQ(verdict.drop, Drop::none) << wire::drop_name(verdict.drop);
    EXPECT_EQ(verdict.wrong, nullptr) << verdict.wrong;
  }
  Bytes bytes;
  encode(sample_tables(), bytes);
  Tables tables;
  ASSERT_EQ(decode(bytes, tables), Drop::none);
  EXPECT_EQ(tables, sample_tables());
}

TEST(GroupMessages, AreReadWithoutACopy) {
  Bytes bytes;
  Data sent;
  sent.client = {4, "c"};
  sent.targets.push_back("orders");
  sent.payload = as_bytes_view("payload");
  encode(sent, bytes);
  Data got;
  ASSERT_EQ(decode(bytes, got), Drop::none);
  EXPECT_EQ(got.payload.data(), bytes.data() + bytes.size() - 7);
  EXPECT_EQ(as_text(got.payload), "payload");
  EXPECT_EQ(got.client.connection, 4U);
  EXPECT_EQ(got.targets[0], "orders");
}

TEST(GroupMessages, TargetsAreBoundedAndEachIsThereOnce) {
  const auto with = [](const std::vector<std::string>& targets) {
    Data sent;
    sent.client = {4, "c"};
    for (const std::string& target : targets) sent.targets.push_back(target);
    Bytes bytes;
    encode(sent, bytes);
    Data got;
    return decode(bytes, got);
  };
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < kTargetsMax; ++i) targets.push_back("g" + std::to_string(1'000 + i));
  EXPECT_EQ(with(targets), Drop::none);
  EXPECT_EQ(with({"a", "a"}), Drop::not_sorted);
  EXPECT_EQ(with({"b", "a"}), Drop::not_sorted);
  EXPECT_EQ(with({}), Drop::bad_value);
}

TEST(GroupMessages, ADisconnectionHasAReason) {
  const auto verdict = [](wire::ClientCode reason) {
    Bytes bytes;
    Disconnect message{{3, "c"}, reason};
    encode(message, bytes);
    return decode(bytes, message);
  };
  EXPECT_EQ(verdict(wire::ClientCode::goodbye), Drop::none);
  EXPECT_EQ(verdict(wire::ClientCode::ok), Drop::bad_value);
  EXPECT_EQ(verdict(static_cast<wire::ClientCode>(wire::kClientCodes)), Drop::bad_value);
}

/// Damages every sample in every way. The bytes must be dropped with a reason, or accepted; an
/// accepted message must encode to the same bytes again.
TEST(GroupMessages, AnyDamageIsDroppedOrIsAnotherMessage) {
  std::map<Drop, std::uint64_t> reasons;
  const auto examine_one = [&](const Sample& sample, const Bytes& bytes) {
    const Verdict verdict = examine(bytes);
    ++reasons[verdict.drop];
    ASSERT_EQ(verdict.wrong, nullptr) << sample.name << ": " << verdict.wrong;
  };
  for (const Sample& sample : samples()) {
    const Bytes& good = sample.bytes;
    for (std::size_t at = 0; at < good.size(); ++at) {
      examine_one(sample, Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)));
      for (unsigned value = 0; value < 256; ++value) {
        Bytes bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        examine_one(sample, bytes);
        bytes = good;
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     static_cast<std::byte>(value));
        examine_one(sample, bytes);
      }
      Bytes without = good;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(at));
      examine_one(sample, without);
      for (const std::size_t width : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
        if (at + width > good.size()) continue;
        Bytes huge = good;
        std::memset(huge.data() + at, 0xff, width);
        examine_one(sample, huge);
      }
    }
  }
  for (const Drop reason : {Drop::none, Drop::truncated, Drop::trailing_bytes, Drop::unknown_kind,
                            Drop::count_too_large, Drop::not_sorted, Drop::bad_value}) {
    EXPECT_GT(reasons[reason], 0U) << wire::drop_name(reason);
  }
}

TEST(GroupMessages, TablesThatContradictThemselvesAreDropped) {
  const auto verdict = [](const std::function<void(Tables&)>& change) {
    Tables tables = sample_tables();
    change(tables);
    Bytes bytes;
    encode(tables, bytes);
    return decode(bytes, tables);
  };
  EXPECT_EQ(verdict([](Tables&) {}), Drop::none);
  EXPECT_EQ(verdict([](Tables& t) { std::swap(t.groups[0], t.groups[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[1].name = "asks"; }), Drop::not_sorted);
  EXPECT_EQ(verdict([](Tables& t) { std::swap(t.synced[0], t.synced[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([](Tables& t) { t.synced.pop_back(); }), Drop::bad_value);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[0].daemons.clear(); }), Drop::bad_value);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[0].daemons[0].clients.clear(); }), Drop::bad_value);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[0].id.index = 0; }), Drop::bad_value);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[0].id.view.number = 0; }), Drop::bad_value);
  EXPECT_EQ(verdict([](Tables& t) { t.groups[0].name = "#x#a"; }), Drop::bad_value);
  const auto clients = [](Tables & t) -> auto& { return t.groups[0].daemons[0].clients; };
  EXPECT_EQ(verdict([&](Tables& t) { std::swap(clients(t)[0], clients(t)[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](Tables& t) { clients(t)[0].connection = 0; }), Drop::bad_value);
}

TEST(GroupMessages, TrafficThatContradictsItselfIsDropped) {
  const auto verdict = [](const std::function<void(std::vector<Traffic>&)>& change) {
    DomainTraffic message{{12, {NodeId{1}, 1}}, sample_traffic()};
    change(message.traffic);
    Bytes bytes;
    encode(message, bytes);
    return decode(bytes, message);
  };
  using All = std::vector<Traffic>;
  EXPECT_EQ(verdict([](All&) {}), Drop::none);
  EXPECT_EQ(verdict([](All& t) { std::swap(t[0], t[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([](All& t) { t[1].domain = 0; }), Drop::not_sorted);
  EXPECT_EQ(verdict([](All& t) { t[1].forgotten = {}; }), Drop::bad_value) << "nothing is known";
  const auto names = [](All & t) -> auto& { return t[1].forgotten.names; };
  EXPECT_EQ(verdict([&](All& t) { names(t).clear(); }), Drop::bad_value);
  EXPECT_EQ(verdict([&](All& t) { std::swap(names(t)[0], names(t)[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { names(t)[1] = names(t)[0]; }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { names(t)[1] = "\n"; }), Drop::bad_value);
  const auto views = [](All & t) -> auto& { return t[0].views; };
  EXPECT_EQ(verdict([&](All& t) { std::swap(views(t)[0], views(t)[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { views(t)[0].view.number = 0; }), Drop::bad_value);
  EXPECT_EQ(verdict([&](All& t) { views(t)[0] = {views(t)[0].view, {}, true, 0, {}, {}}; }),
            Drop::bad_value);
  EXPECT_EQ(verdict([&](All& t) { views(t)[1].upto = {}; }), Drop::bad_value);
  for (const std::size_t at : {0U, 1U}) {
    EXPECT_EQ(verdict([&](All& t) {
                views(t)[at].upto = {0, 1};
              }),
              Drop::bad_value)
        << "no message is at position 0";
  }
  EXPECT_EQ(verdict([&](All& t) {
              views(t)[1].upto = {10, 0};
            }),
            Drop::bad_value)
      << "late, and not";
  EXPECT_EQ(verdict([&](All& t) { views(t)[1].names[0].messages = 0; }), Drop::bad_value);
  EXPECT_EQ(verdict([&](All& t) { views(t)[1].names[0].name = "zz"; }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { views(t)[1].names[0].name = "\n"; }), Drop::bad_value);
  const auto late = [&](All & t) -> auto& { return views(t)[1].late; };
  EXPECT_EQ(verdict([&](All& t) { std::swap(late(t)[0], late(t)[1]); }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { late(t)[0] = late(t)[1]; }), Drop::not_sorted);
  EXPECT_EQ(verdict([&](All& t) { views(t)[2].late.clear(); }), Drop::bad_value) << "nothing";
}

TEST(GroupMessages, NamesOfTrafficAreBounded) {
  const auto name = [](std::size_t i) { return "n" + std::to_string(10'000 + i); };
  using Fill = std::function<void(std::vector<Traffic>&)>;
  // Each entry fills a list to its limit. The number counts the bytes between the list's count and
  // its first name.
  const std::pair<Fill, std::size_t> lists[] = {
      {[&](std::vector<Traffic>& t) {
         auto& names = t[0].views[1].names;
         names.clear();
         for (std::size_t i = 0; i < kTrafficNamesMax; ++i) names.push_back({name(i), 1});
       },
       1},
      {[&](std::vector<Traffic>& t) {
         auto& late = t[0].views[1].late;
         late.clear();
         for (std::size_t i = 0; i < kTrafficNamesMax; ++i) late.push_back({{10, 0}, name(i)});
       },
       13},
      {[&](std::vector<Traffic>& t) {
         auto& names = t[1].forgotten.names;
         names.clear();
         for (std::size_t i = 0; i < kTrafficNamesMax; ++i) names.push_back(name(i));
       },
       1}};
  for (const auto& [fill, between] : lists) {
    DomainTraffic message{{12, {NodeId{1}, 1}}, sample_traffic()};
    fill(message.traffic);
    Bytes bytes;
    encode(message, bytes);
    EXPECT_EQ(decode(bytes, message), Drop::none);
    const std::size_t first = as_text(bytes).find(name(0));
    ASSERT_NE(first, std::string_view::npos);
    const ByteSpan count = ByteSpan(bytes).subspan(first - between - 2);
    ASSERT_EQ(load<std::uint16_t>(count), kTrafficNamesMax);
    store(count, static_cast<std::uint16_t>(kTrafficNamesMax + 1));
    EXPECT_EQ(decode(bytes, message), Drop::count_too_large);
  }
}

}  // namespace
}  // namespace peal::group::test
