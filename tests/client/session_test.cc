// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model_daemon.h"

namespace peal::client::test {
namespace {

const std::vector<std::string_view> kChat{"chat"};

struct SessionTest : testing::Test {
  void start(std::uint64_t receive_bytes_max = 1U << 20) {
    session = std::make_unique<Session>(SessionOptions{"ada", "key", 1'000, receive_bytes_max});
    session->connected();
    converse(*session, daemon);
    ASSERT_EQ(session->phase(), Session::Phase::open);
  }
  Result<std::uint64_t, Errc> send(std::string_view text) {
    return session->send(kChat, as_bytes_view(text), Service::agreed, 0, false);
  }

  ModelDaemon daemon;
  std::unique_ptr<Session> session;
};

TEST_F(SessionTest, TakesOverWhatTheWelcomeSays) {
  start();
  EXPECT_EQ(session->terms().name, "#ada#n1");
  EXPECT_EQ(session->terms().node, "n1");
  EXPECT_EQ(session->terms().cluster, "test");
  EXPECT_EQ(session->terms().message_bytes_max, 1'000U);
  EXPECT_TRUE(session->terms().resumable());
}

TEST_F(SessionTest, TakesAsManyMessagesAsMayBeUnsettled) {
  daemon.echoes = false;
  daemon.limits.unsettled_messages_max = 3;
  start();
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(*send("x"), i);
  EXPECT_EQ(send("x").error(), Errc::would_block);
  EXPECT_FALSE(session->has_room(1));
  converse(*session, daemon);
  EXPECT_EQ(send("x").error(), Errc::would_block) << "sent, but not settled";
  daemon.acknowledge(1);
  converse(*session, daemon);
  EXPECT_TRUE(session->has_room(1));
  EXPECT_EQ(*send("x"), 4U);
  EXPECT_EQ(send("x").error(), Errc::would_block);
}

TEST_F(SessionTest, TakesAsManyBytesAsMayBeUnsettled) {
  daemon.echoes = false;
  daemon.limits.unsettled_bytes_max = 10;
  start();
  EXPECT_TRUE(send("12345678901234")) << "a single one is always taken";
  EXPECT_EQ(send("").error(), Errc::would_block);
  converse(*session, daemon);
  daemon.acknowledge(1);
  converse(*session, daemon);
  EXPECT_TRUE(send("12345"));
  EXPECT_TRUE(session->has_room(5));
  EXPECT_FALSE(session->has_room(6)) << "who waits for more has nothing of it";
  EXPECT_TRUE(send("12345"));
  EXPECT_EQ(send("1").error(), Errc::would_block);
}

TEST_F(SessionTest, RefusesWhatNoDaemonWouldTake) {
  start();
  EXPECT_EQ(send(std::string(1'001, 'x')).error(), Errc::too_large);
  EXPECT_TRUE(send(std::string(1'000, 'x')));
  const std::vector<std::vector<std::string_view>> bad{
      {}, {""}, std::vector<std::string_view>(65, "a")};
  for (const auto& targets : bad) {
    EXPECT_EQ(session->send(targets, {}, Service::agreed, 0, false).error(), Errc::invalid_option);
  }
  const std::string longest(129, 'x');
  const std::vector<std::string_view> too_long{longest};
  EXPECT_EQ(session->send(too_long, {}, Service::agreed, 0, false).error(), Errc::invalid_option);
}

TEST_F(SessionTest, WhatItHasSeenMayWaitForSomethingElse) {
  start();
  daemon.tell("a");
  session->received(daemon.said());
  EXPECT_TRUE(session->has_output());
  EXPECT_FALSE(session->has_more_than_seen());
  const std::vector<std::string_view> targets{"chat"};
  ASSERT_TRUE(session->send(targets, {}, Service::agreed, 0, false));
  EXPECT_TRUE(session->has_more_than_seen());
  daemon.received(take_output(*session));
  EXPECT_EQ(daemon.kinds,
            (std::vector{wire::RecordKind::hello, wire::RecordKind::seen, wire::RecordKind::send}));
  EXPECT_FALSE(session->has_output());
}

TEST_F(SessionTest, SaysWhatItHasSeen) {
  start();
  daemon.tell("a");
  daemon.tell("b");
  converse(*session, daemon);
  EXPECT_EQ(daemon.kinds, (std::vector{wire::RecordKind::hello, wire::RecordKind::seen}));
  EXPECT_EQ(daemon.complaints, std::vector<std::string>{});
  EXPECT_EQ(read_all(*session), (std::vector<std::string>{"a", "b"}));
}

TEST_F(SessionTest, WantsNoInputWhileTooMuchWaits) {
  start(1);
  EXPECT_TRUE(session->wants_input());
  daemon.tell("a");
  session->received(daemon.said());
  EXPECT_FALSE(session->wants_input());
  read_all(*session);
  EXPECT_TRUE(session->wants_input());
  EXPECT_EQ(session->inbox().unread_bytes(), 0U);
}

TEST_F(SessionTest, SaysGoodbyeAfterAllThatWasSent) {
  start();
  ASSERT_TRUE(send("last"));
  session->goodbye();
  EXPECT_EQ(send("too late").error(), Errc::closed);
  converse(*session, daemon);
  EXPECT_EQ(daemon.messages, std::vector<std::string>{"last"});
  EXPECT_TRUE(daemon.goodbye);
  EXPECT_EQ(session->phase(), Session::Phase::ended);
  EXPECT_EQ(session->ending().code, wire::ClientCode::goodbye);
  EXPECT_EQ(session->ending().unsettled, 0U);
  EXPECT_EQ(read_all(*session), (std::vector<std::string>{"last", "<ended>"}));
}

TEST_F(SessionTest, SaysNothingAfterTheGoodbye) {
  start();
  session->goodbye();
  EXPECT_FALSE(take_output(*session).empty());
  daemon.tell("an event to be seen");
  session->received(daemon.said());
  session->ping();
  const std::uint32_t asked = session->ask("status");
  EXPECT_FALSE(session->has_output());
  EXPECT_TRUE(take_output(*session).empty());
  daemon.close(wire::ClientCode::goodbye, "as you wish");
  session->received(daemon.said());
  EXPECT_EQ(session->ending().code, wire::ClientCode::goodbye);
  EXPECT_TRUE(session->take_answer(asked));
}

TEST_F(SessionTest, SaysGoodbyeAgainAfterACut) {
  start();
  session->goodbye();
  take_output(*session);  // the daemon does not get the goodbye
  session->disconnected("cut");
  daemon.connect();
  session->connected();
  converse(*session, daemon);
  EXPECT_TRUE(daemon.goodbye);
  EXPECT_EQ(session->phase(), Session::Phase::ended);
}

TEST_F(SessionTest, ASessionThatIsLostNamesTheMessagesOfUnknownFate) {
  daemon.echoes = false;
  start();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(send("x"));
  converse(*session, daemon);
  daemon.acknowledge(2);
  converse(*session, daemon);
  session->disconnected("cut");
  daemon.forget();
  daemon.connect();
  session->connected();
  converse(*session, daemon);
  ASSERT_EQ(session->phase(), Session::Phase::ended);
  EXPECT_EQ(session->ending().code, wire::ClientCode::session_lost);
  EXPECT_EQ(session->ending().unsettled_first, 3U);
  EXPECT_EQ(session->ending().unsettled, 3U);
  EXPECT_EQ(read_all(*session), (std::vector<std::string>{"<disconnected>", "<ended>"}));
  EXPECT_EQ(send("x").error(), Errc::closed);
}

TEST_F(SessionTest, EndsWithItsConnectionIfItIsNotKept) {
  daemon.limits.keep_ms = 0;
  start();
  ASSERT_TRUE(send("x"));
  session->disconnected("cut");
  EXPECT_EQ(session->phase(), Session::Phase::ended);
  EXPECT_EQ(session->ending().code, wire::ClientCode::session_lost);
  EXPECT_EQ(session->ending().unsettled, 1U);
}

TEST_F(SessionTest, GoesOnAfterAnEndThatIsOnlyTheConnections) {
  start();
  daemon.tell("a");
  daemon.close(wire::ClientCode::silent, "nothing was heard");
  daemon.tell("b");  // the daemon sends this event again later
  converse(*session, daemon);
  ASSERT_EQ(session->phase(), Session::Phase::apart);
  daemon.connect();
  session->connected();
  daemon.close(wire::ClientCode::silent, "no hello came");
  session->received(daemon.said());
  ASSERT_EQ(session->phase(), Session::Phase::apart);
  daemon.connect();
  session->connected();
  converse(*session, daemon);
  EXPECT_EQ(session->phase(), Session::Phase::open);
  EXPECT_EQ(read_all(*session),
            (std::vector<std::string>{"a", "<disconnected>", "<reconnected>", "b"}));
}

TEST_F(SessionTest, AnyOtherEndIsTheSessions) {
  for (int code = 1; code < wire::kClientCodes; ++code) {
    daemon = {};
    // `silent` ends only the connection, unless the session cannot be resumed.
    if (static_cast<wire::ClientCode>(code) == wire::ClientCode::silent) daemon.limits.keep_ms = 0;
    start();
    daemon.close(static_cast<wire::ClientCode>(code), "why");
    session->received(daemon.said());
    ASSERT_EQ(session->phase(), Session::Phase::ended) << code;
    EXPECT_EQ(static_cast<int>(session->ending().code), code);
    EXPECT_EQ(session->ending().text, "why");
  }
}

TEST_F(SessionTest, ReadsAGreetingWhateverWaits) {
  start(1);
  daemon.tell("a");
  session->received(daemon.said());
  ASSERT_FALSE(session->wants_input());
  session->disconnected("cut");
  session->connected();
  EXPECT_TRUE(session->wants_input());
}

TEST_F(SessionTest, TellsOfARefusalOnce) {
  daemon.echoes = false;
  start();
  ASSERT_TRUE(send("x"));
  ASSERT_TRUE(send("y"));
  converse(*session, daemon);
  daemon.refuse(1, wire::ClientCode::not_permitted);
  daemon.refuse(1, wire::ClientCode::not_permitted);
  converse(*session, daemon);
  session->disconnected("cut");
  daemon.connect();
  session->connected();
  converse(*session, daemon);
  daemon.refuse(1, wire::ClientCode::not_permitted);
  daemon.acknowledge(2);
  daemon.refuse(2, wire::ClientCode::not_permitted);
  converse(*session, daemon);
  EXPECT_EQ(read_all(*session),
            (std::vector<std::string>{"<82>", "<disconnected>", "<reconnected>"}));
}

TEST_F(SessionTest, GoesOnWithADaemonThatSaysItsRefusalsAgain) {
  daemon.echoes = false;
  start();
  for (const char* text : {"x", "y", "z"}) ASSERT_TRUE(send(text));
  converse(*session, daemon);
  daemon.refuse(1, wire::ClientCode::not_permitted);
  daemon.acknowledge(2);
  converse(*session, daemon);
  session->disconnected("cut");
  daemon.connect();
  daemon.acknowledge(0);  // so that the welcome acknowledges nothing
  session->connected();
  converse(*session, daemon);
  EXPECT_EQ(session->phase(), Session::Phase::open);
  daemon.refuse(1, wire::ClientCode::not_permitted);
  daemon.acknowledge(3);
  converse(*session, daemon);
  EXPECT_EQ(session->outbox().settled(), 3U);
  EXPECT_EQ(read_all(*session),
            (std::vector<std::string>{"<82>", "<disconnected>", "<reconnected>"}));
  EXPECT_TRUE(daemon.complaints.empty());
}

TEST_F(SessionTest, ARequestThatIsGivenUpHasNoAnswer) {
  start();
  const std::uint32_t join = session->join("chat", {});
  session->give_up(join);
  converse(*session, daemon);
  EXPECT_EQ(session->phase(), Session::Phase::open) << session->ending().text;
  EXPECT_FALSE(session->take_answer(join));
}

TEST_F(SessionTest, RequestsOfASessionThatEndsAreAnswered) {
  start();
  const std::uint32_t join = session->join("chat", {});
  session->end(wire::ClientCode::slow, "too slow");
  EXPECT_EQ(session->take_answer(join)->code, wire::ClientCode::session_lost);
  const std::uint32_t leave = session->leave("chat");
  EXPECT_EQ(session->take_answer(leave)->text, "too slow");
}

TEST_F(SessionTest, PingsOnlyIfThereIsNothingElseToSay) {
  start();
  session->ping();
  daemon.received(take_output(*session));
  ASSERT_TRUE(send("x"));
  session->ping();
  daemon.received(take_output(*session));
  EXPECT_EQ(daemon.kinds,
            (std::vector{wire::RecordKind::hello, wire::RecordKind::ping, wire::RecordKind::send}));
}

}  // namespace
}  // namespace peal::client::test
