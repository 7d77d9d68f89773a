// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "model_daemon.h"

// If a daemon is broken or hostile, the client's session ends with a reason. Nothing worse happens.

namespace peal::client::test {
namespace {

using Bytes = std::vector<std::byte>;

/// A session that has sent three messages, two of which are acknowledged.
struct Talk {
  Talk() : session({"ada", "", 1'000, 1U << 20}) {
    daemon.echoes = false;
    session.connected();
    converse(session, daemon);
    const std::vector<std::string_view> targets{"chat"};
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(session.send(targets, as_bytes_view("hello"), Service::agreed, 0, false));
    }
    converse(session, daemon);
    daemon.acknowledge(2);
    daemon.tell("event");
    converse(session, daemon);
  }
  void expect_fault(const Bytes& bytes, const std::string& what) {
    session.received(bytes);
    EXPECT_EQ(session.phase(), Session::Phase::ended) << what;
    EXPECT_EQ(session.ending().code, wire::ClientCode::bad_record) << what;
    EXPECT_NE(session.ending().text.find("broke the protocol"), std::string::npos)
        << session.ending().text;
  }
  ModelDaemon daemon;
  Session session;
};

Bytes acked(std::uint64_t number) {
  Bytes out;
  append(out, wire::RecordKind::acked, wire::Acked{number});
  return out;
}

Bytes raw(std::initializer_list<int> values) {
  Bytes out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(Hostile, AcknowledgementsOfWhatWasNeverSentOrIsSettled) {
  for (const std::uint64_t number : {0ULL, 1ULL, 4ULL, ~0ULL}) {
    Talk().expect_fault(acked(number), "acked " + std::to_string(number));
  }
  Talk fine;
  fine.session.received(acked(3));
  EXPECT_EQ(fine.session.phase(), Session::Phase::open);
}

TEST(Hostile, RefusalsOfWhatWasNeverSent) {
  for (const std::uint64_t number : {0ULL, 4ULL, ~0ULL}) {
    Bytes out;
    append(out, wire::Refused{number, wire::ClientCode::too_large, ""});
    Talk().expect_fault(out, "refused " + std::to_string(number));
  }
}

TEST(Hostile, RecordsThatAreNotDue) {
  Bytes welcome;
  append(welcome, ModelDaemon().limits);
  Talk().expect_fault(welcome, "a second welcome");
  Bytes hello;
  append(hello, wire::Hello{});
  Talk().expect_fault(hello, "a hello");
  for (const int kind : {0, 2, 8, 9, 63, 69, 70, 79, 87, 255}) {
    Talk().expect_fault(raw({1, 0, 0, 0, kind}), "kind " + std::to_string(kind));
  }
}

TEST(Hostile, DamagedRecordsOfEachKind) {
  for (const int kind : {64, 65, 66, 67, 68, 81, 82, 83, 84, 85, 86}) {
    if (kind == 85) continue;  // kind 85 is checked below
    Talk().expect_fault(raw({2, 0, 0, 0, kind, 255}), "kind " + std::to_string(kind));
  }
  Talk().expect_fault(raw({2, 0, 0, 0, 85, 255}), "an end for a reason that there is not");
}

TEST(Hostile, ImpossibleLengths) {
  Talk().expect_fault(raw({0, 0, 0, 0, 64}), "length 0");
  Talk().expect_fault(raw({255, 255, 255, 255, 64}), "length 2^32-1");
  Session early({"ada", "", 0, 1});
  early.connected();
  early.received(raw({0, 0, 1, 0, 80}));
  EXPECT_EQ(early.phase(), Session::Phase::ended) << "64 KiB are too long for a welcome";
}

TEST(Hostile, AnythingButAWelcomeFirst) {
  Session session({"ada", "", 0, 1});
  session.connected();
  session.received(acked(0));
  EXPECT_EQ(session.phase(), Session::Phase::ended);
  EXPECT_EQ(session.ending().code, wire::ClientCode::bad_record);
  EXPECT_FALSE(session.inbox().has_item()) << "whoever connects is told so by connect()";
}

TEST(Hostile, WelcomesThatCannotBe) {
  const std::vector<std::pair<std::string, std::function<void(wire::Welcome&)>>> faults{
      {"no message may be sent", [](auto& w) { w.message_bytes_max = 0; }},
      {"messages of 4 GiB", [](auto& w) { w.message_bytes_max = ~0U; }},
      {"no message may be unsettled", [](auto& w) { w.unsettled_messages_max = 0; }},
      {"received what was not sent", [](auto& w) { w.received = 1; }},
      {"acked what was not sent", [](auto& w) { w.acked = w.received = 1; }},
      {"starts with event 2", [](auto& w) { w.events_next = 2; }},
      {"goes on with nothing", [](auto& w) { w.resumed = true; }},
  };
  for (const auto& [what, damage] : faults) {
    wire::Welcome welcome = ModelDaemon().limits;
    welcome.events_next = 1;
    damage(welcome);
    Bytes out;
    append(out, welcome);
    Session session({"ada", "", 0, 1});
    session.connected();
    session.received(out);
    EXPECT_EQ(session.phase(), Session::Phase::ended) << what;
  }
}

TEST(Hostile, WelcomesBackThatCannotBe) {
  const std::vector<std::pair<std::string, std::function<void(wire::Welcome&)>>> faults{
      {"forgets what was settled", [](auto& w) { w.acked = w.received = 1; }},
      {"received less than it acknowledged", [](auto& w) { w.received = 1; }},
      {"received what was not sent", [](auto& w) { w.received = 4; }},
      {"leaves an event out", [](auto& w) { w.events_next = 3; }},
      {"repeats an event", [](auto& w) { w.events_next = 1; }},
      {"another token", [](auto& w) { w.session.fill(std::byte{8}); }},
      {"another name", [](auto& w) { w.name = "#bob#n1"; }},
      {"another session", [](auto& w) { w.resumed = false; }},
  };
  for (const auto& [what, damage] : faults) {
    Talk talk;
    talk.session.disconnected("cut");
    talk.session.connected();
    wire::Welcome welcome = talk.daemon.limits;
    welcome.resumed = true;
    welcome.acked = 2;
    welcome.received = 3;
    welcome.events_next = 2;
    damage(welcome);
    Bytes out;
    append(out, welcome);
    talk.session.received(out);
    EXPECT_EQ(talk.session.phase(), Session::Phase::ended) << what;
    EXPECT_EQ(talk.session.ending().unsettled, 1U) << what;
  }
}

TEST(Hostile, AnotherVersionIsNamed) {
  wire::Welcome welcome = ModelDaemon().limits;
  welcome.version = 9;
  Bytes out;
  append(out, welcome);
  Session session({"ada", "", 0, 1});
  session.connected();
  session.received(out);
  EXPECT_EQ(session.ending().code, wire::ClientCode::bad_version);
  EXPECT_NE(session.ending().text.find("version 9"), std::string::npos) << session.ending().text;
}

/// The client gets the legal output of a daemon with some bytes changed, omitted or added. The
/// session continues or ends, and its memory stays bounded.
TEST(Hostile, MutatedTalks) {
  Random random(7);
  std::size_t ended = 0;
  for (int round = 0; round < 3'000; ++round) {
    ModelDaemon daemon;
    Session session({"ada", "", 1'000, 1U << 16});
    session.connected();
    daemon.received(take_output(session));
    const std::vector<std::string_view> targets{"chat"};
    for (int i = 0; i < 4; ++i) daemon.tell("text " + std::to_string(i));
    Bytes talk = daemon.said();
    const std::uint64_t changes = 1 + random.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(random.below(talk.size()));
      const auto value = static_cast<std::byte>(random.below(256));
      switch (random.below(3)) {
        case 0: talk[static_cast<std::size_t>(at)] = value; break;
        case 1: talk.erase(talk.begin() + at); break;
        default: talk.insert(talk.begin() + at, value);
      }
    }
    session.received(talk);
    ignore(session.send(targets, as_bytes_view("x"), Service::agreed, 0, false), "may be over");
    take_output(session);
    read_all(session);
    EXPECT_EQ(session.inbox().unread_bytes(), 0U);
    if (session.phase() == Session::Phase::ended) ++ended;
  }
  EXPECT_GT(ended, 500U);
}

}  // namespace
}  // namespace peal::client::test
