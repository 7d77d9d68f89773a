// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon.h"

namespace peal::session::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A daemon with client x in group g.
struct Alone {
  explicit Alone(const Options& of = options()) : daemon(of), x(daemon, "x") {
    x.connect();
    x.join("g");
    daemon.run();
    x.take();
    daemon.run();
    x.take();
  }
  Daemon daemon;
  Client x;
};

TEST(Sessions, MembersAreToldThatTheNetworkTookOthersAway) {
  Alone alone;
  Client y(alone.daemon, "y");
  y.connect();
  alone.daemon.run();
  y.take();
  alone.daemon.lose_member_of("g");
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ::testing::Contains("transitional g"));
  EXPECT_THAT(y.take(), ::testing::Not(::testing::Contains("transitional g"))) << "not in g";
}

TEST(Sessions, AClientIsWelcomeJoinsAndGetsWhatItSends) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n"));
  x.join("g");
  x.send("g", "hello");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("reply 1 ok", "view g join #x#n: #x#n",
                                    "message g: hello from #x#n", "acked 1"));
  x.leave("g");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("reply 2 ok", "left g"));
}

TEST(Sessions, AMessageIsSettledWhenAllHaveItAndNotWhenItComesBack) {
  Alone alone;
  alone.x.send("g", "one");
  alone.daemon.pump();
  ASSERT_TRUE(alone.daemon.order_one());  // the message has its place; a safe marker is next
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: one from #x#n"));
  EXPECT_EQ(alone.daemon.sessions->counters().markers, 1U);
  ASSERT_TRUE(alone.daemon.order_one());
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("acked 1"));
  alone.x.send("g", "two", Service::safe);
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("acked 2", "message g: two from #x#n"));
  EXPECT_EQ(alone.daemon.sessions->counters().markers, 1U) << "a safe message needs none";
}

Options of_disjoint_domains() {
  Options some = options();
  some.domains = group::Domains({}, NodeId{1}, group::Domains::Kind::disjoint);
  some.tables_bytes_max = some.message_bytes_max;
  some.message_bytes_max = 1'000;
  return some;
}

TEST(Sessions, WithDisjointDomainsAMessageIsSettledWhenItHasItsPlace) {
  Alone alone(of_disjoint_domains());
  alone.x.send("g", "one");
  alone.daemon.pump();
  alone.daemon.sessions->on_placed(alone.daemon.now, 1, 0, true);  // the join
  EXPECT_EQ(alone.x.acked, 0U);
  alone.daemon.sessions->on_placed(alone.daemon.now, 2, 0, false);
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("acked 1"));
  EXPECT_TRUE(alone.daemon.sessions->idle());
  ASSERT_TRUE(alone.daemon.order_one());
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: one from #x#n"));
  EXPECT_EQ(alone.daemon.sessions->counters().markers, 0U);
}

TEST(Sessions, MessagesWithoutAPlaceComeWithTheirNumbers) {
  Alone alone;
  alone.daemon.causal = true;
  alone.x.send("g", "one", Service::causal);
  alone.x.send("g", "two");
  alone.x.send("g", "three", Service::fifo);
  alone.daemon.run();
  EXPECT_THAT(
      alone.x.take_events(),
      ElementsAre("message g: one from #x#n, without a place, number 2", "message g: two from #x#n",
                  "message g: three from #x#n, without a place, number 4"))
      << "number 1 is the join";
  EXPECT_EQ(alone.x.acked, 3U);
}

TEST(Sessions, AMessageWithoutAPlaceIsSettledWhenAllHaveIt) {
  Alone alone;
  alone.daemon.causal = true;
  alone.x.send("g", "one", Service::causal);
  alone.daemon.pump();
  ASSERT_TRUE(alone.daemon.order_one());
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: one from #x#n, without a place, number 2"));
  EXPECT_EQ(alone.daemon.sessions->counters().markers, 1U);
  ASSERT_TRUE(alone.daemon.order_one());
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("acked 1"));
}

TEST(Sessions, TheEndOfAViewSettlesWhatCameBackInIt) {
  Alone alone;
  alone.x.send("g", "one");
  alone.x.send("g", "two");
  alone.daemon.pump();
  ASSERT_TRUE(alone.daemon.order_one());
  alone.daemon.change_view();
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take_events(), ElementsAre("message g: one from #x#n"));
  EXPECT_EQ(alone.x.acked, 1U);
  alone.daemon.run();
  alone.x.take();
  EXPECT_EQ(alone.x.acked, 2U);
  EXPECT_TRUE(alone.daemon.sessions->idle());
}

TEST(Sessions, WhatIsRefusedIsSaidBeforeItIsAcked) {
  Alone alone;
  alone.x.send("g", "good");
  alone.x.send("#nobody", "bad name");
  alone.x.send("g", "good too");
  alone.x.send("", "no name at all");
  alone.daemon.pump();
  // The last message has an empty target, so it cannot be decoded.
  EXPECT_THAT(alone.x.take(), ElementsAre("refused 2 bad_name", "closing bad_record"));
}

TEST(Sessions, RefusedMessagesAreAckedInTheirTurn) {
  Alone alone;
  alone.x.send("g", "good");
  alone.x.send("#nobody", "bad name");
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("refused 2 bad_name"));
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: good from #x#n", "acked 2"));
  alone.x.send("#nobody", "again");
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("refused 3 bad_name", "acked 3"));
}

TEST(Sessions, ARefusalIsSaidAgainOnANewConnection) {
  Alone alone;
  alone.x.send("#nobody", "lost with the connection");
  alone.x.cut();
  alone.x.connect();
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("welcome back #x#n", "refused 1 bad_name", "acked 1"));
}

TEST(Sessions, GoodbyeSettlesAllAndTheGroupsLearnWhy) {
  Alone alone;
  Client y(alone.daemon, "y");
  y.connect();
  y.join("g");
  alone.daemon.run();
  y.take();
  alone.daemon.pump();
  alone.x.take();
  y.send("g", "last words");
  y.goodbye();
  alone.daemon.pump();
  EXPECT_THAT(y.take(), IsEmpty());
  alone.daemon.run();
  EXPECT_THAT(y.take(),
              ElementsAre("message g: last words from #y#n", "acked 1", "closing goodbye"));
  EXPECT_TRUE(alone.daemon.pipe(y.connection).closed);
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: last words from #y#n",
                                          "view g disconnect (goodbye) #y#n: #x#n"));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
}

TEST(Sessions, AFullNodeStopsReadingUntilThereIsRoom) {
  Alone alone;
  alone.daemon.room = 2;
  for (int i = 1; i <= 9; ++i) alone.x.send("g", std::to_string(i));
  EXPECT_TRUE(alone.daemon.pipe(alone.x.connection).paused);
  EXPECT_EQ(alone.daemon.waiting.size(), 2U);
  alone.daemon.run();
  EXPECT_FALSE(alone.daemon.pipe(alone.x.connection).paused);
  EXPECT_EQ(alone.x.take_events().size(), 9U);
  EXPECT_EQ(alone.x.acked, 9U);
}

TEST(Sessions, WhoHasSentAsMuchAsItMayIsSaidToWait) {
  Options few = options();
  for (const std::size_t bytes : {1U, 800U}) {
    SCOPED_TRACE(bytes);
    few.unsettled_messages_max = bytes == 1 ? 2 : 100;
    few.unsettled_bytes_max = bytes == 1 ? 100 : 1'600;
    Alone alone(few);
    const auto waits_for = [&alone] {
      return alone.daemon.sessions->status(alone.daemon.now).sessions[0].waits_for;
    };
    alone.x.send("g", std::string(bytes, 'a'));
    alone.daemon.pump();
    EXPECT_EQ(waits_for(), "");
    alone.x.send("g", std::string(bytes, 'b'));
    alone.daemon.pump();
    EXPECT_FALSE(alone.daemon.pipe(alone.x.connection).paused);
    EXPECT_EQ(waits_for(), "acknowledgements of its earlier messages");
    alone.daemon.run();
    EXPECT_EQ(waits_for(), "");
  }
}

TEST(Sessions, WhoHasTooMuchThatIsNotSettledIsNotReadOn) {
  Options few = options();
  few.unsettled_messages_max = 3;
  Alone alone(few);
  for (int i = 1; i <= 5; ++i) alone.x.send("g", std::to_string(i));
  alone.daemon.pump();
  EXPECT_EQ(alone.daemon.waiting.size(), 3U);
  EXPECT_TRUE(alone.daemon.pipe(alone.x.connection).paused);
  EXPECT_EQ(alone.daemon.sessions->status(alone.daemon.now).sessions[0].waits_for,
            "acknowledgements of its earlier messages");
  alone.daemon.run();
  alone.x.take();
  EXPECT_EQ(alone.x.acked, 5U);
}

TEST(Sessions, OneMessageAtATimeMayBeLargerThanTheLimitOfBytes) {
  Options few = options();
  few.unsettled_bytes_max = 10;
  Alone alone(few);
  alone.x.send("g", std::string(100, 'a'));
  alone.x.send("g", "b");
  alone.daemon.pump();
  EXPECT_EQ(alone.daemon.waiting.size(), 1U);
  alone.daemon.run();
  alone.x.take();
  EXPECT_EQ(alone.x.acked, 2U);
}

TEST(Sessions, ASecondConnectionTakesTheSessionOver) {
  Alone alone;
  const ConnectionId first = alone.x.connection;
  Client again = alone.x;
  again.connect();
  alone.daemon.run();
  EXPECT_THAT(again.take(), ElementsAre("welcome back #x#n"));
  EXPECT_TRUE(alone.daemon.pipe(first).closed);
  EXPECT_THAT(alone.x.take(), ElementsAre("closing replaced"));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
}

TEST(Sessions, SomebodyElseDoesNotGetASessionByItsToken) {
  Alone alone;
  Client thief(alone.daemon, "x", 60'000, user(2, "bob"));
  thief.token = alone.x.token;
  thief.connect();
  alone.daemon.run();
  EXPECT_THAT(thief.take(), ElementsAre("closing session_lost"));
}

TEST(Sessions, ASessionEndsIfItsClientDoesNotComeBack) {
  Alone alone;
  Client y(alone.daemon, "y", 5'000);
  y.connect();
  y.join("g");
  alone.daemon.run();
  y.take();
  y.cut();
  alone.daemon.pass(seconds(4));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 2U);
  alone.daemon.pass(seconds(2));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
  alone.daemon.run();
  const auto told = alone.x.take_events();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), "view g disconnect (silent) #y#n: #x#n");
  y.connect();
  alone.daemon.run();
  EXPECT_THAT(y.take(), ElementsAre("closing session_lost"));
}

TEST(Sessions, ASessionIsKeptFromWhenItsConnectionWent) {
  Alone alone;
  Client y(alone.daemon, "y", 5'000), brief(alone.daemon, "brief", 1'000);
  for (Client* each : {&y, &brief}) each->connect();
  alone.daemon.run();
  for (Client* each : {&y, &brief}) each->take();
  alone.daemon.pass(seconds(30));
  for (Client* each : {&y, &brief}) each->cut();
  alone.daemon.pass(seconds(4));  // the session of `brief` ends meanwhile
  EXPECT_EQ(alone.daemon.sessions->sessions(), 2U);
  alone.daemon.pass(seconds(2));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
}

TEST(Sessions, ASessionThatIsAboutToEndIsNotGoneOnWith) {
  Alone alone;
  alone.x.send("g", "not settled yet");
  alone.x.goodbye();
  Client again = alone.x;
  again.connect();
  alone.daemon.pump();
  EXPECT_THAT(again.take(), ElementsAre("closing session_lost")) << "it said goodbye";

  Client y(alone.daemon, "y");
  y.connect();
  alone.daemon.run();
  y.take();
  ASSERT_TRUE(alone.daemon.sessions->evict(alone.daemon.now, "#y#n"));
  Client late = y;
  late.connect();
  alone.daemon.pump();
  EXPECT_THAT(late.take(), ElementsAre("closing session_lost")) << "it was ended";
}

TEST(Sessions, AGoodbyeIsNotRememberedAsAnEnd) {
  Alone alone;
  alone.x.goodbye();
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("closing goodbye"));
  alone.x.connect();
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("closing session_lost"));
}

wire::Welcome welcome_of(Daemon& daemon, const Client& client) {
  const auto& bytes = daemon.pipe(client.connection).from_daemon;
  wire::Welcome welcome;
  EXPECT_EQ(decode(wire::next_record(bytes, 10'000).record.body, welcome), wire::Drop::none);
  return welcome;
}

TEST(Sessions, WithDisjointDomainsAMessageFitsAUnit) {
  Daemon daemon(of_disjoint_domains());
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  EXPECT_EQ(welcome_of(daemon, x).message_bytes_max, 750U) << "a quarter is for the names";
}

TEST(Sessions, AWelcomeSaysWhatTheClientMayDo) {
  Options some = options();
  some.unsettled_messages_max = 123;
  some.unsettled_bytes_max = 45'678;
  some.keep_max = seconds(9);
  some.ping = seconds(7);
  Daemon daemon(some);
  Identity remote = user(1, "ann");
  remote.local = false;
  Client x(daemon, "x", 5'000), y(daemon, "y", 60'000, remote);
  for (Client* each : {&x, &y}) each->connect();
  daemon.run();
  const wire::Welcome here = welcome_of(daemon, x);
  EXPECT_FALSE(here.resumed);
  EXPECT_EQ(here.name, "#x#n");
  EXPECT_EQ(here.node, "n");
  EXPECT_EQ(here.cluster, "demo");
  EXPECT_EQ(here.message_bytes_max, some.message_bytes_max - kMessageOverheadMax);
  EXPECT_EQ(here.unsettled_messages_max, 123U);
  EXPECT_EQ(here.unsettled_bytes_max, 45'678U);
  EXPECT_EQ(here.received, 0U);
  EXPECT_EQ(here.acked, 0U);
  EXPECT_EQ(here.events_next, 1U);
  EXPECT_EQ(here.keep_ms, 5'000U);
  EXPECT_EQ(here.ping_ms, 0U) << "a local one need not say anything";
  EXPECT_EQ(here.shared_bytes, 0U) << "it did not ask for it";
  const wire::Welcome there = welcome_of(daemon, y);
  EXPECT_NE(there.session, here.session);
  EXPECT_EQ(there.keep_ms, 9'000U) << "no longer than the configuration says";
  EXPECT_EQ(there.ping_ms, 7'000U);
}

TEST(Sessions, AWelcomeBackSaysWhatHasBecomeOfThem) {
  Alone alone;
  const std::uint64_t events = alone.x.events;
  alone.x.send("g", "settled");
  alone.daemon.run();
  alone.x.take();
  alone.x.send("g", "not settled");
  alone.x.cut();
  alone.x.connect();
  alone.daemon.pump();
  const wire::Welcome back = welcome_of(alone.daemon, alone.x);
  EXPECT_TRUE(back.resumed);
  EXPECT_EQ(back.session, alone.x.token);
  EXPECT_EQ(back.received, 2U);
  EXPECT_EQ(back.acked, 1U);
  EXPECT_EQ(back.events_next, events + 2);
  EXPECT_THAT(alone.x.take(), ElementsAre("welcome back #x#n")) << "that says what is acked";
}

TEST(Sessions, AWelcomeBackDoesNotAckWhatIsNotSettledBeforeARefusal) {
  Alone alone;
  alone.x.send("g", "not settled");
  alone.x.send("#nobody", "refused");
  alone.x.cut();
  alone.x.connect();
  alone.daemon.pump();
  EXPECT_EQ(welcome_of(alone.daemon, alone.x).acked, 0U);
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("welcome back #x#n", "refused 2 bad_name",
                                          "message g: not settled from #x#n", "acked 2"));
}

TEST(Sessions, AMessageMayBeAsLargeAsTheWelcomeSays) {
  Alone alone;
  const std::size_t most = options().message_bytes_max - kMessageOverheadMax;
  alone.x.send("h", std::string(most, 'p'));
  alone.x.send("h", std::string(most + 1, 'p'));
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("refused 2 too_large", "acked 2"));
}

TEST(Sessions, WhoSaidGoodbyeMayStayAwayUntilAllIsSettled) {
  Alone alone;
  Client y(alone.daemon, "y");
  y.connect();
  y.join("g");
  alone.daemon.run();
  y.take();
  alone.daemon.run();
  alone.x.take();
  y.send("g", "last words");
  y.goodbye();
  y.cut();
  alone.daemon.pass(seconds(100));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 2U);
  alone.daemon.run();
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
  EXPECT_THAT(alone.x.take(), ElementsAre("message g: last words from #y#n",
                                          "view g disconnect (goodbye) #y#n: #x#n"));
}

TEST(Sessions, WhatOthersSendSettlesNothing) {
  Alone alone;
  alone.x.send("g", "mine", Service::safe);
  alone.daemon.pump();
  ASSERT_EQ(alone.daemon.waiting.size(), 1U);
  alone.daemon.hear_other(alone.daemon.waiting[0].number);
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), IsEmpty());
  EXPECT_FALSE(alone.daemon.sessions->idle());
}

TEST(Sessions, WithoutAKeepASessionEndsWithItsConnection) {
  Daemon daemon;
  Client x(daemon, "x", 0);
  x.connect();
  daemon.run();
  x.take();
  EXPECT_EQ(x.token, wire::SessionToken{});
  x.cut();
  daemon.run();
  EXPECT_EQ(daemon.sessions->sessions(), 0U);
}

TEST(Sessions, AConnectionWithoutAHelloIsClosed) {
  Daemon daemon;
  const ConnectionId id = daemon.connect(user(1, "ann"));
  daemon.pass(seconds(4));
  EXPECT_FALSE(daemon.pipe(id).closed);
  daemon.pass(seconds(2));
  EXPECT_TRUE(daemon.pipe(id).closed);
  EXPECT_EQ(daemon.sessions->connections(), 0U);
}

TEST(Sessions, RemoteClientsHaveToBeHeardOf) {
  Daemon daemon;
  Identity remote = user(1, "ann");
  remote.local = false;
  Client x(daemon, "x", 60'000, remote), y(daemon, "y");
  x.connect();
  y.connect();
  daemon.run();
  x.take();
  for (int i = 0; i < 10; ++i) {
    daemon.pass(seconds(4));
    x.ping(7);
    daemon.pump();
    EXPECT_THAT(x.take(), ElementsAre("pong 7"));
  }
  daemon.pass(seconds(20));
  EXPECT_THAT(x.take(), ElementsAre("closing silent"));
  EXPECT_EQ(daemon.sessions->sessions(), 2U) << "the session may be gone on with";
  EXPECT_FALSE(daemon.pipe(y.connection).closed);
  x.connect();
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome back #x#n"));
}

TEST(Sessions, WhoWasNotReadHasToBeHeardOfAgainAfterwards) {
  Daemon daemon;
  Identity remote = user(1, "ann");
  remote.local = false;
  Client x(daemon, "x", 60'000, remote);
  x.connect();
  daemon.room = 1;
  for (int i = 0; i < 3; ++i) x.send("g", "payload");
  daemon.pump();
  ASSERT_TRUE(daemon.pipe(x.connection).paused);
  daemon.pass(seconds(40));
  EXPECT_FALSE(daemon.pipe(x.connection).closed) << "it was not read, so it cannot be heard";
  daemon.run();
  EXPECT_FALSE(daemon.pipe(x.connection).paused);
  daemon.pass(seconds(20));
  EXPECT_TRUE(daemon.pipe(x.connection).closed);
}

// While the daemon has no space, it does not read from the client. The client's silence counts only
// from the time when there is space, even if the daemon reads from the client later.
TEST(Sessions, WhoIsReadAgainHasAllItsTimeToBeHeardOf) {
  Daemon daemon;
  Identity remote = user(1, "ann");
  remote.local = false;
  Client x(daemon, "x", 60'000, remote);
  x.connect();
  daemon.room = 1;
  for (int i = 0; i < 3; ++i) x.send("g", "payload");
  daemon.pump();
  daemon.pass(seconds(40));
  daemon.connect(user(1, "silent"));
  daemon.pass(seconds(4));
  daemon.sessions->on_room(daemon.now);
  daemon.now = daemon.now + seconds(2);  // `silent` is due, so all are checked
  daemon.pump();
  EXPECT_FALSE(daemon.pipe(x.connection).closed);
}

TEST(Sessions, RemoteClientsHaveToBeHeardOfHoweverLongAHelloMayTake) {
  Options patient = options();
  patient.hello_patience = seconds(1'000);
  Daemon daemon(patient);
  Identity remote = user(1, "ann");
  remote.local = false;
  Client x(daemon, "x", 60'000, remote);
  x.connect();
  daemon.pass(seconds(14));
  EXPECT_FALSE(daemon.pipe(x.connection).closed);
  daemon.pass(seconds(2));
  EXPECT_TRUE(daemon.pipe(x.connection).closed);
}

TEST(Sessions, WhoDoesNotReadItsLastWordsIsClosedSoon) {
  Alone alone;
  alone.daemon.let_read(alone.x.connection, false);
  ASSERT_TRUE(alone.daemon.sessions->evict(alone.daemon.now, "#x#n"));
  alone.daemon.run();
  EXPECT_EQ(alone.daemon.sessions->sessions(), 0U);
  alone.daemon.pass(milliseconds(900));
  EXPECT_FALSE(alone.daemon.pipe(alone.x.connection).closed);
  alone.daemon.pass(milliseconds(200));
  EXPECT_TRUE(alone.daemon.pipe(alone.x.connection).closed);
  EXPECT_EQ(alone.daemon.sessions->connections(), 0U);
}

TEST(Sessions, AWrongResumptionLeavesASessionThatStillEnds) {
  Alone alone;
  alone.x.events = 99;
  alone.x.connect();
  alone.daemon.run();
  EXPECT_EQ(alone.daemon.sessions->sessions(), 1U);
  alone.daemon.pass(seconds(61));
  EXPECT_EQ(alone.daemon.sessions->sessions(), 0U);
}

TEST(Sessions, QuestionsAreAnsweredByTheOwner) {
  Options some = options();
  some.clients[0].admin = false;
  Daemon daemon(some);
  Client x(daemon, "x");
  x.connect();
  x.ask("status");
  x.ask("reload");
  daemon.run();
  const auto told = x.take();
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[1], "reply 3 ok well");
  EXPECT_EQ(told[2].substr(0, 21), "reply 3 not_permitted");
}

TEST(Sessions, AnAdministratorEndsOne) {
  Alone alone;
  EXPECT_FALSE(alone.daemon.sessions->evict(alone.daemon.now, "#y#n"));
  EXPECT_TRUE(alone.daemon.sessions->evict(alone.daemon.now, "#x#n"));
  alone.daemon.run();
  EXPECT_THAT(alone.x.take(), ElementsAre("closing evicted"));
}

TEST(Sessions, AreIdleOnceAllIsSettledAndWhatEndsIsGone) {
  Alone alone;
  EXPECT_TRUE(alone.daemon.sessions->idle());
  alone.x.send("g", "one", Service::safe);
  EXPECT_FALSE(alone.daemon.sessions->idle()) << "it is not settled";
  alone.daemon.run();
  EXPECT_TRUE(alone.daemon.sessions->idle());
  ASSERT_TRUE(alone.daemon.sessions->evict(alone.daemon.now, "#x#n"));
  EXPECT_FALSE(alone.daemon.sessions->idle()) << "it ends at the next turn";
  EXPECT_EQ(alone.daemon.sessions->next_deadline(), alone.daemon.now);
  alone.daemon.run();
  EXPECT_TRUE(alone.daemon.sessions->idle());
  alone.daemon.begin_to_meet();
  EXPECT_FALSE(alone.daemon.sessions->idle()) << "the tables of two daemons are not equal yet";
  alone.daemon.change_view();
  alone.daemon.run();
  EXPECT_TRUE(alone.daemon.sessions->idle());
}

TEST(Sessions, AMessageComesAsItWasSent) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  x.join("g");
  daemon.run();
  x.take();
  wire::SendRequest request;
  request.number = 1;
  request.targets.push_back("g");
  request.targets.push_back("h");
  request.service = Service::safe;
  request.type = 0x1234;
  request.payload = as_bytes_view("payload");
  std::vector<std::byte> record;
  append(record, request);
  x.bytes(record);
  daemon.run();
  const auto& bytes = daemon.pipe(x.connection).from_daemon;
  const wire::Framed acked = wire::next_record(bytes, 10'000);
  const wire::Framed framed = wire::next_record(ByteView(bytes).subspan(acked.bytes), 10'000);
  wire::MessageEvent message;
  ASSERT_EQ(decode(framed.record.body, message), wire::Drop::none);
  EXPECT_EQ(message.sender, "#x#n");
  EXPECT_EQ(message.service, Service::safe);
  EXPECT_EQ(message.type, 0x1234U);
  ASSERT_EQ(message.targets.size(), 2U);
  EXPECT_EQ(message.targets[1], "h");
  EXPECT_EQ(as_text(message.payload), "payload");
  EXPECT_GT(message.place.position, 0U);
  EXPECT_GT(message.place.view.number, 0U);
}

TEST(Sessions, ANodeThatHasStoppedTakesNothingAndSaysSo) {
  Alone alone;
  Client y(alone.daemon, "y");
  y.connect();
  alone.daemon.run();
  y.take();
  alone.daemon.stopped = true;
  y.join("h");
  alone.x.send("g", "too late");
  alone.daemon.pump();
  EXPECT_THAT(y.take(), ElementsAre("reply 1 shutdown"));
  EXPECT_THAT(alone.x.take(), ElementsAre("refused 1 shutdown", "acked 1"));
  Client late(alone.daemon, "late");
  late.connect();
  alone.daemon.pump();
  EXPECT_THAT(late.take(), ElementsAre("closing shutdown"));
}

TEST(Sessions, StopTellsEverybody) {
  Alone alone;
  const ConnectionId silent = alone.daemon.connect(user(1, "ann"));
  alone.daemon.sessions->stop(alone.daemon.now);
  alone.daemon.pump();
  EXPECT_THAT(alone.x.take(), ElementsAre("closing shutdown"));
  EXPECT_TRUE(alone.daemon.pipe(silent).closed);
  EXPECT_EQ(alone.daemon.sessions->sessions(), 0U);
}

TEST(Sessions, WhoDoesNotReadItsRepliesIsNotReadOn) {
  Alone alone;
  alone.daemon.let_read(alone.x.connection, false);
  for (std::uint64_t i = 0; i < 10'000; ++i) alone.x.ping(i);
  alone.daemon.pump();
  EXPECT_TRUE(alone.daemon.pipe(alone.x.connection).paused);
  EXPECT_EQ(alone.daemon.sessions->status(alone.daemon.now).sessions[0].waits_for,
            "the client, which does not read its replies");
  alone.daemon.let_read(alone.x.connection, true);
  alone.daemon.pump();
  EXPECT_EQ(alone.x.take().size(), 10'000U);
}

// Events and replies arrive whole, even if the connection accepts only a few bytes at a time.
TEST(Sessions, WhatIsWrittenInPartsComesWhole) {
  Alone alone;
  alone.daemon.let_read(alone.x.connection, false);
  std::vector<std::string> events, others;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    alone.x.send("g", std::string(30, 'p') + std::to_string(i), Service::safe);
    events.push_back("message g: " + std::string(30, 'p') + std::to_string(i) + " from #x#n");
  }
  alone.daemon.run();
  auto& got = alone.daemon.pipe(alone.x.connection).from_daemon;
  for (std::uint64_t step = 1; step < 2'000; ++step) {
    if (step <= 60) {
      alone.x.ping(step);
      others.push_back("pong " + std::to_string(step));
    }
    const std::size_t most = 1 + step % 150;
    std::size_t bytes = 0;
    for (const ByteView piece : alone.daemon.sessions->output(alone.x.connection)) {
      const std::size_t part = std::min(piece.size(), most - bytes);
      got.insert(got.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(part));
      bytes += part;
    }
    if (bytes > 0) alone.daemon.sessions->written(alone.daemon.now, alone.x.connection, bytes);
    alone.daemon.sessions->check_invariants();
  }
  std::vector<std::string> messages, pongs;
  for (const std::string& text : alone.x.take()) {
    if (text.rfind("message", 0) == 0) messages.push_back(text);
    if (text.rfind("pong", 0) == 0) pongs.push_back(text);
  }
  EXPECT_EQ(messages, events);
  EXPECT_EQ(pongs, others);
  EXPECT_EQ(alone.x.acked, 40U);
}

}  // namespace
}  // namespace peal::session::test
