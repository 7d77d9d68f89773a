// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model_daemon.h"

// A cut of the connection must not change the result of a session.

namespace peal::client::test {
namespace {

constexpr std::size_t kCutMessages = 6;

std::vector<std::string> expected() {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kCutMessages; ++i) texts.push_back("m" + std::to_string(i));
  return texts;
}

void send_all(Session& session) {
  const std::vector<std::string_view> targets{"chat"};
  for (const std::string& text : expected()) {
    ASSERT_TRUE(session.send(targets, as_bytes_view(text), Service::safe, 9, false));
  }
}

std::vector<std::string> messages_of(Session& session) {
  std::vector<std::string> texts = read_all(session);
  texts.erase(
      std::remove_if(texts.begin(), texts.end(), [](const auto& t) { return t.front() == '<'; }),
      texts.end());
  return texts;
}

/// Exchanges `bytes` bytes in all, in turns of up to `step` bytes in each direction. Returns false
/// if the conversation ends with fewer bytes.
bool talk_until_cut(Session& session, ModelDaemon& daemon, std::size_t bytes, std::size_t step) {
  std::vector<std::byte> down;
  while (true) {
    const std::vector<std::byte> up = take_output(session, std::min(step, bytes));
    bytes -= up.size();
    daemon.received(up);
    const std::vector<std::byte> more = daemon.said();
    down.insert(down.end(), more.begin(), more.end());
    const std::size_t passing = std::min({step, bytes, down.size()});
    session.received(ByteView(down).first(passing));
    down.erase(down.begin(), down.begin() + static_cast<std::ptrdiff_t>(passing));
    bytes -= passing;
    if (bytes == 0) return true;
    if (up.empty() && passing == 0) return false;
  }
}

void check_cut(std::size_t cut, std::size_t step, bool& reached) {
  ModelDaemon daemon;
  Session session({"ada", "", 1'000, 1U << 20});
  session.connected();
  converse(session, daemon);
  send_all(session);
  reached = talk_until_cut(session, daemon, cut, step);
  session.disconnected("cut");
  daemon.connect();
  session.connected();
  converse(session, daemon);
  EXPECT_EQ(daemon.complaints, std::vector<std::string>{}) << "cut after " << cut;
  EXPECT_EQ(daemon.messages, expected()) << "cut after " << cut;
  EXPECT_EQ(messages_of(session), expected()) << "cut after " << cut;
  EXPECT_EQ(session.outbox().settled(), kCutMessages) << "cut after " << cut;
  EXPECT_EQ(session.phase(), Session::Phase::open) << session.ending().text;
}

TEST(Cut, AfterEachByteOfATalkChangesNothing) {
  for (const std::size_t step : {1U, 7U, 64U, 4'096U}) {
    bool reached = true;
    std::size_t cut = 1;
    for (; reached; ++cut) check_cut(cut, step, reached);
    EXPECT_GT(cut, 400U) << "the talk has more bytes than that";
  }
}

TEST(Cut, TwiceChangesNothing) {
  for (std::size_t first = 1; first < 600; first += 13) {
    for (std::size_t second = 1; second < 600; second += 17) {
      ModelDaemon daemon;
      Session session({"ada", "", 1'000, 1U << 20});
      session.connected();
      converse(session, daemon);
      send_all(session);
      for (const std::size_t cut : {first, second}) {
        talk_until_cut(session, daemon, cut, 5);
        session.disconnected("cut");
        daemon.connect();
        session.connected();
      }
      converse(session, daemon);
      ASSERT_EQ(daemon.complaints, std::vector<std::string>{});
      ASSERT_EQ(daemon.messages, expected());
      ASSERT_EQ(messages_of(session), expected());
      ASSERT_EQ(session.outbox().settled(), kCutMessages);
    }
  }
}

TEST(Cut, IsToldOnceAndSoIsTheReturn) {
  ModelDaemon daemon;
  Session session({"ada", "", 1'000, 1U << 20});
  session.connected();
  converse(session, daemon);
  session.disconnected("cut");
  session.connected();
  take_output(session, 3);  // the daemon gets no whole hello
  session.disconnected("cut again");
  daemon.connect();
  session.connected();
  converse(session, daemon);
  EXPECT_EQ(read_all(session), (std::vector<std::string>{"<disconnected>", "<reconnected>"}));
}

/// A client writes `bytes_written` bytes of a join, and the connection is cut. The client repeats
/// the join, and the daemon replies "member already". Returns the answer that the client then has.
wire::ClientCode answer_after_cut(std::size_t bytes_written) {
  ModelDaemon daemon;
  Session session({"ada", "", 1'000, 1U << 20});
  session.connected();
  converse(session, daemon);
  const std::uint32_t join = session.join("chat", {});
  take_output(session, bytes_written);  // the daemon does not get these bytes
  session.disconnected("cut");
  daemon.connect();
  session.connected();
  daemon.received(take_output(session));
  session.received(daemon.said());
  take_output(session);
  std::vector<std::byte> reply;
  append(reply, wire::Reply{join, wire::ClientCode::member_already, "member already"});
  session.received(reply);
  const auto answer = session.take_answer(join);
  EXPECT_TRUE(answer);
  return answer ? answer->code : wire::ClientCode::bad_record;
}

TEST(Cut, ARequestIsRepeatedAndItsFirstCopyCounts) {
  EXPECT_EQ(answer_after_cut(SIZE_MAX), wire::ClientCode::ok);
}

TEST(Cut, ACopyThatNobodyCanHaveDoesNotCount) {
  EXPECT_EQ(answer_after_cut(0), wire::ClientCode::member_already);
  EXPECT_EQ(answer_after_cut(20), wire::ClientCode::member_already);
}

}  // namespace
}  // namespace peal::client::test
