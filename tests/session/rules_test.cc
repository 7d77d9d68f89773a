// SPDX-License-Identifier: Apache-2.0
#include "session/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "daemon.h"

namespace peal::session::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Person person(std::uint32_t uid) { return {user(uid, "ann"), {}}; }

TEST(Rules, TheFirstThatFitsDecides) {
  Options rules = options();
  rules.groups = {{{Who::Kind::uid, 7, {}}, "secret.*", true, false},
                  {{Who::Kind::everyone, 0, {}}, "secret.*", false, false},
                  {{Who::Kind::everyone, 0, {}}, "news", true, false}};
  EXPECT_TRUE(may(rules, person(7), GroupWish::join, "secret.plans"));
  EXPECT_FALSE(may(rules, person(7), GroupWish::send, "secret.plans"));
  EXPECT_FALSE(may(rules, person(8), GroupWish::join, "secret.plans"));
  EXPECT_TRUE(may(rules, person(8), GroupWish::join, "news"));
  EXPECT_FALSE(may(rules, person(8), GroupWish::join, "newspaper"));
  EXPECT_FALSE(may(rules, person(8), GroupWish::join, "nothing"));
}

TEST(Rules, KnowUsersGroupsCertificatesAndSecrets) {
  Identity ann = user(7, "ann");
  ann.groups = {3, 50};
  Identity site;
  site.kind = Identity::Kind::certificate;
  site.name = "feed.example";
  EXPECT_TRUE(fits(Who{Who::Kind::gid, 50, {}}, {ann, {}}));
  EXPECT_FALSE(fits(Who{Who::Kind::gid, 4, {}}, {ann, {}}));
  EXPECT_FALSE(fits(Who{Who::Kind::uid, 0, {}}, {site, {}}));
  EXPECT_TRUE(fits(Who{Who::Kind::certificate, 0, "feed.example"}, {site, {}}));
  EXPECT_FALSE(fits(Who{Who::Kind::certificate, 0, "ann"}, {ann, {}}));
  EXPECT_TRUE(fits(Who{Who::Kind::secret, 0, "sesame"}, {ann, "sesame"}));
  EXPECT_FALSE(fits(Who{Who::Kind::secret, 0, "sesame"}, {ann, "sesamf"}));
  EXPECT_FALSE(fits(Who{Who::Kind::secret, 0, ""}, {ann, ""}));
}

TEST(Rules, TakeTwoForTheSamePersonOnlyIfAllThatIsKnownOfThemIsEqual) {
  const Person ann{user(7, "ann"), "sesame"};
  EXPECT_TRUE(same_person(ann, ann));
  Person other = ann;
  other.identity.kind = Identity::Kind::certificate;
  EXPECT_FALSE(same_person(ann, other));
  other = ann;
  other.identity.uid = 8;
  EXPECT_FALSE(same_person(ann, other));
  other = ann;
  other.identity.name = "anne";
  EXPECT_FALSE(same_person(ann, other));
  for (const char* secret : {"sesamf", "aesame", "sesam", ""}) {
    other = ann;
    other.secret = secret;
    EXPECT_FALSE(same_person(ann, other)) << secret;
  }
}

TEST(Rules, SayOfWhomTheyKnowWhat) {
  Identity site;
  site.kind = Identity::Kind::certificate;
  site.name = "feed.example";
  EXPECT_EQ(person_text({user(7, "ann"), "sesame"}), "user ann (7)");
  EXPECT_EQ(person_text({user(7, ""), {}}), "user 7");
  EXPECT_EQ(person_text({site, {}}), "certificate feed.example");
  EXPECT_EQ(person_text({Identity{}, {}}), "nobody known");
  EXPECT_EQ(person_text({Identity{}, "sesame"}), "holder of a secret");
}

TEST(Rules, FitCertificatesByWhatTheirNamesBeginWith) {
  Identity site;
  site.kind = Identity::Kind::certificate;
  site.name = "feed.example";
  EXPECT_TRUE(fits(Who{Who::Kind::certificate, 0, "feed.*"}, {site, {}}));
  EXPECT_FALSE(fits(Who{Who::Kind::certificate, 0, "news.*"}, {site, {}}));
  EXPECT_FALSE(fits(Who{Who::Kind::certificate, 0, "*"}, person(7))) << "a user has none";
  EXPECT_FALSE(fits(Who{Who::Kind::gid, 0, {}}, {site, {}}));
  EXPECT_TRUE(fits(Who{Who::Kind::everyone, 0, {}}, {Identity{}, {}}));
}

TEST(Rules, ASecretIsKnownWhicheverRuleHasIt) {
  Options rules = options();
  rules.clients = {{{Who::Kind::secret, 0, "first"}, "*"},
                   {{Who::Kind::everyone, 0, "no secret"}, "*"},
                   {{Who::Kind::secret, 0, "last"}, "*"}};
  EXPECT_TRUE(knows_secret(rules, "first"));
  EXPECT_TRUE(knows_secret(rules, "last"));
  EXPECT_FALSE(knows_secret(rules, "no secret"));
  EXPECT_FALSE(knows_secret(rules, "firs"));
}

std::vector<std::string> hello(const Options& rules, const std::string& name,
                               const Identity& identity, const std::string& secret = {}) {
  Daemon daemon(rules);
  Client x(daemon, name, 60'000, identity);
  x.secret = secret;
  x.connect();
  daemon.run();
  return x.take();
}

TEST(Rules, SayTheNameOfWhomTheyTurnAwayIfThereIsOne) {
  Options rules = options();
  rules.clients = {{{Who::Kind::uid, 7, {}}, "ann-*", 10, 10, 0, false}};
  for (const auto& [name, who] :
       {std::pair("", "user bob (8)"), std::pair("x", "user bob (8) the name 'x'")}) {
    Daemon daemon(rules);
    Client x(daemon, name, 60'000, user(8, "bob"));
    x.connect();
    daemon.run();
    const wire::Framed framed = wire::next_record(daemon.pipe(x.connection).from_daemon, 10'000);
    wire::Closing closing;
    ASSERT_EQ(decode(framed.record.body, closing), wire::Drop::none);
    EXPECT_EQ(closing.text, std::string("no rule for clients allows ") + who +
                                "; see [[client]] in the daemon's configuration");
  }
}

TEST(Rules, SayWhoIsTurnedAwayAndWhy) {
  Options rules = options();
  rules.clients = {{{Who::Kind::uid, 7, {}}, "ann-*", 10, 10, 0, false},
                   {{Who::Kind::secret, 0, "sesame"}, "only", 1, 10, 0, false}};
  EXPECT_THAT(hello(rules, "ann-1", user(7, "ann")), ElementsAre("welcome #ann-1#n"));
  EXPECT_THAT(hello(rules, "", user(7, "ann")), ElementsAre("welcome #ann-1#n"));
  EXPECT_THAT(hello(rules, "bob", user(7, "ann")), ElementsAre("closing not_permitted"));
  EXPECT_THAT(hello(rules, "ann-1", user(8, "bob")), ElementsAre("closing not_permitted"));
  EXPECT_THAT(hello(rules, "", user(8, "bob"), "sesame"), ElementsAre("welcome #only#n"));
  EXPECT_THAT(hello(rules, "", user(8, "bob"), "wrong"), ElementsAre("closing bad_secret"));
  EXPECT_THAT(hello(options(), "a#b", user(7, "ann")), ElementsAre("closing bad_name"));
  EXPECT_THAT(hello(options(), std::string(33, 'n'), user(7, "ann")),
              ElementsAre("closing bad_name"));
}

TEST(Rules, NamesAreTakenOnceAndSessionsCounted) {
  Options rules = options();
  rules.clients[0].sessions_max = 2;
  Daemon daemon(rules);
  Client x(daemon, "x"), other(daemon, "x"), y(daemon, "y"), z(daemon, "z");
  for (Client* each : {&x, &other, &y, &z}) each->connect();
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n"));
  EXPECT_THAT(other.take(), ElementsAre("closing name_in_use"));
  EXPECT_THAT(y.take(), ElementsAre("welcome #y#n"));
  EXPECT_THAT(z.take(), ElementsAre("closing too_many"));
}

TEST(Rules, ANameThatIsMadeUpIsOneThatNobodyHas) {
  Daemon daemon;
  Client taken(daemon, "c1"), first(daemon, ""), second(daemon, "");
  for (Client* each : {&taken, &first, &second}) each->connect();
  daemon.run();
  EXPECT_THAT(first.take(), ElementsAre("welcome #c2#n"));
  EXPECT_THAT(second.take(), ElementsAre("welcome #c3#n"));
}

TEST(Rules, SessionsOfAllRulesTogetherAreCounted) {
  Options rules = options();
  rules.sessions_max = 2;
  rules.clients = {{{Who::Kind::uid, 7, {}}, "*"}, {{Who::Kind::everyone, 0, {}}, "*"}};
  Daemon daemon(rules);
  Client x(daemon, "x", 60'000, user(7, "ann")), y(daemon, "y", 0), z(daemon, "z");
  for (Client* each : {&x, &y, &z}) each->connect();
  daemon.run();
  EXPECT_THAT(y.take(), ElementsAre("welcome #y#n"));
  EXPECT_THAT(z.take(), ElementsAre("closing too_many"));
  y.cut();
  daemon.run();
  z.connect();
  daemon.run();
  EXPECT_THAT(z.take(), ElementsAre("welcome #z#n"));
  rules.sessions_max = 1;  // new rules end no existing session
  daemon.sessions->reconfigure(daemon.now, rules);
  z.goodbye();
  daemon.run();
  EXPECT_THAT(z.take(), ElementsAre("closing goodbye"));
  y.connect();
  daemon.run();
  EXPECT_THAT(y.take(), ElementsAre("closing too_many"));
}

TEST(Rules, WithoutTheRightNothingIsJoinedOrSent) {
  Options rules = options();
  rules.groups = {{{Who::Kind::everyone, 0, {}}, "open", true, true},
                  {{Who::Kind::everyone, 0, {}}, "read", true, false}};
  Daemon daemon(rules);
  Client x(daemon, "x");
  x.connect();
  x.join("read");
  x.join("closed");
  x.send("open,read", "no");
  x.send("open", "yes");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n", "reply 1 ok", "reply 1 not_permitted",
                                    "refused 1 not_permitted", "acked 1",
                                    "view read join #x#n: #x#n", "acked 2"));
}

TEST(Rules, WithoutTheRightNobodyMakesTheOthersWait) {
  Options rules = options();
  rules.groups = {{{Who::Kind::uid, 7, {}}, "*", true, true, true},
                  {{Who::Kind::everyone, 0, {}}, "*", true, true}};
  const wire::SlowLimits block{wire::SlowPolicy::block, 0, 0, 0};
  const wire::SlowLimits longer{wire::SlowPolicy::normal, 0, 0, 2'000};
  const wire::SlowLimits shorter{wire::SlowPolicy::normal, 0, 0, 500};
  {
    Daemon daemon(rules);
    Client x(daemon, "x", 60'000, user(7, "ann")), y(daemon, "y", 60'000, user(8, "bob"));
    for (Client* each : {&x, &y}) {
      each->connect();
      each->join("g", block);
      daemon.run();
    }
    EXPECT_THAT(x.take(), ElementsAre("welcome #x#n", "reply 1 ok", "view g join #x#n: #x#n"));
    EXPECT_THAT(y.take(), ElementsAre("welcome #y#n", "reply 1 not_permitted"));
  }
  // If the configuration gives `block` to all memberships, a client needs no permission for it.
  rules.slow.policy = wire::SlowPolicy::block;
  rules.slow.age_ms = 1'000;
  Daemon daemon(rules);
  Client y(daemon, "y", 60'000, user(8, "bob"));
  y.connect();
  y.join("g", longer);
  y.join("g", shorter);
  y.join("h");
  daemon.run();
  EXPECT_THAT(y.take(),
              ElementsAre("welcome #y#n", "reply 1 not_permitted", "reply 1 ok", "reply 1 ok",
                          "view g join #y#n: #y#n", "view h join #y#n: #y#n"));
}

TEST(Rules, LimitsOfAMembershipGoAsFarAsTheConfigurationSays) {
  Options rules = options();
  rules.slow_max = {wire::SlowPolicy::normal, 100'000, 200'000, 3'000};
  const auto join = [](const Options& of, const wire::SlowLimits& limits) {
    Daemon daemon(of);
    Client x(daemon, "x");
    x.connect();
    x.join("g", limits);
    daemon.pump();
    return x.take().back();
  };
  const auto policy = wire::SlowPolicy::spill;
  EXPECT_EQ(join(rules, {policy, 100'000, 200'000, 3'000}), "reply 1 ok");
  EXPECT_EQ(join(rules, {policy, 100'001, 0, 0}), "reply 1 not_permitted");
  EXPECT_EQ(join(rules, {policy, 0, 200'001, 0}), "reply 1 not_permitted");
  EXPECT_EQ(join(rules, {policy, 0, 0, 3'001}), "reply 1 not_permitted");
  rules.slow_max = {wire::SlowPolicy::normal, 0, 0, 0};
  EXPECT_EQ(join(rules, {policy, 1ULL << 50, 1ULL << 50, 1U << 30}), "reply 1 ok") << "0: any";
}

TEST(Rules, LimitsThatAMembershipDoesNotAskForAreThoseOfTheConfiguration) {
  Options rules = options();
  rules.slow = {wire::SlowPolicy::drop, 50'000, 70'000, 0};
  Daemon daemon(rules);
  Client x(daemon, "x");
  x.connect();
  x.join("all");
  x.join("own", {wire::SlowPolicy::evict, 30'000, 40'000, 0});
  x.join("little", {wire::SlowPolicy::evict, 1, 1, 0});
  daemon.run();
  const SessionStatus status = daemon.sessions->status(daemon.now).sessions.at(0);
  ASSERT_EQ(status.memberships.size(), 4U);
  for (const MembershipStatus& each : status.memberships) {
    SCOPED_TRACE(each.group);
    const bool own = each.group == "own" || each.group == "little";
    EXPECT_EQ(each.policy, own ? wire::SlowPolicy::evict : wire::SlowPolicy::drop);
    const std::uint64_t memory = each.group == "own" ? 30'000 : own ? kSlowBytesMin : 50'000;
    const std::uint64_t disk = each.group == "own" ? 40'000 : own ? kSlowBytesMin : 70'000;
    EXPECT_EQ(each.memory_bytes_max, memory);
    EXPECT_EQ(each.disk_bytes_max, disk);
  }
}

TEST(Rules, AMemberThatJoinsAgainIsNoFurtherGroup) {
  Options rules = options();
  rules.clients[0].groups_max = 1;
  Daemon daemon(rules);
  Client x(daemon, "x");
  x.connect();
  for (const char* group : {"g", "g", "h"}) x.join(group);
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n", "reply 1 ok", "reply 1 member_already",
                                    "reply 1 too_many", "view g join #x#n: #x#n"));
  x.leave("g");
  x.join("g");  // the leave has no place in the order yet
  daemon.run();
  EXPECT_THAT(x.take(),
              ElementsAre("reply 2 ok", "reply 1 ok", "left g", "view g join #x#n: #x#n"));
}

TEST(Rules, WhatGroupsRefuseIsSaidWithTheReason) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  x.join("#private");
  x.leave("g");
  daemon.pump();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n", "reply 1 bad_name", "reply 2 no_member"));
}

TEST(Rules, GroupsOfOneSessionAreCounted) {
  Options rules = options();
  rules.clients[0].groups_max = 100;
  Daemon daemon(rules);
  Client x(daemon, "x");
  x.connect();
  for (int i = 0; i < 10'000; ++i) x.join("g" + std::to_string(i));
  daemon.run();
  std::size_t joined = 0, refused = 0;
  for (const std::string& text : x.take()) {
    if (text == "reply 1 ok") ++joined;
    if (text == "reply 1 too_many") ++refused;
  }
  EXPECT_EQ(joined, 100U);
  EXPECT_EQ(refused, 9'900U);
}

TEST(Rules, WhoSendsMoreThanItsQuotaIsRefusedAndNobodyElse) {
  Options rules = options();
  rules.clients = {{{Who::Kind::uid, 7, {}}, "*", 10, 10, 1'000, false},
                   {{Who::Kind::everyone, 0, {}}, "*", 10, 10, 0, false}};
  Daemon daemon(rules);
  Client x(daemon, "x", 60'000, user(7, "ann")), y(daemon, "y", 60'000, user(8, "bob"));
  for (Client* each : {&x, &y}) {
    each->connect();
    for (int i = 0; i < 4; ++i) each->send("g", std::string(400, 'p'));
  }
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("welcome #x#n", "refused 3 over_quota", "refused 4 over_quota",
                                    "acked 4"));
  EXPECT_THAT(y.take(), ElementsAre("welcome #y#n", "acked 4"));
  daemon.pass(seconds(1));
  x.send("g", std::string(5'000, 'p'));  // more than a second's worth, once all is saved up
  x.send("g", "p");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("refused 6 over_quota", "acked 6"));
  daemon.pass(seconds(3));
  x.send("g", "p");
  daemon.pass(seconds(3));
  x.send("g", "p");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("refused 7 over_quota", "acked 7", "acked 8"));
}

TEST(Rules, AQuotaIsUsedUpByEmptyMessagesAndByJoinsToo) {
  Options rules = options();
  rules.clients[0].bytes_per_second = 1'000;
  Daemon daemon(rules);
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) each->connect();
  for (int i = 0; i < 100; ++i) x.send("g", "");
  for (int i = 0; i < 100; ++i) y.join("g" + std::to_string(i));
  daemon.run();
  EXPECT_LT(daemon.sessions->counters().messages, 16U);
  EXPECT_GT(daemon.sessions->counters().messages, 5U);
  std::size_t joined = 0, refused = 0;
  for (const std::string& text : y.take()) {
    if (text == "reply 1 ok") ++joined;
    if (text == "reply 1 over_quota") ++refused;
  }
  EXPECT_LT(joined, 16U);
  EXPECT_GT(joined, 5U);
  EXPECT_EQ(joined + refused, 100U);
}

TEST(Rules, AreReadAnewAndEndWhatTheyDoNotAllow) {
  Daemon daemon;
  Client x(daemon, "x", 60'000, user(7, "ann")), y(daemon, "y", 60'000, user(8, "bob"));
  x.connect();
  y.connect();
  daemon.run();
  x.take();
  y.take();
  Options rules = options();
  rules.clients[0].who = {Who::Kind::uid, 7, {}};
  rules.groups.clear();
  daemon.sessions->reconfigure(daemon.now, rules);
  x.send("g", "not any more");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("refused 1 not_permitted", "acked 1"));
  EXPECT_THAT(y.take(), ElementsAre("closing not_permitted"));
}

TEST(Rules, ReadAnewEndMembershipsThatTheyDoNotAllow) {
  Daemon daemon;
  Client x(daemon, "x", 60'000, user(7, "ann"));
  x.connect();
  x.join("closed");
  x.join("open");
  x.join("waits", {wire::SlowPolicy::block, 0, 0, 0});
  daemon.run();
  x.take();
  Options rules = options();
  rules.groups = {{{Who::Kind::everyone, 0, {}}, "closed", false, true, true},
                  {{Who::Kind::everyone, 0, {}}, "*", true, true, false}};
  daemon.room = 0;  // the node accepts no message at first
  daemon.sessions->reconfigure(daemon.now, rules);
  daemon.pump();
  EXPECT_THAT(x.take(), ElementsAre());
  daemon.room = 100;
  daemon.sessions->on_room(daemon.now);
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("reply 0 not_permitted", "reply 0 not_permitted", "left closed",
                                    "left waits"));
  x.join("waits");
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre("reply 1 ok", "view waits join #x#n: #x#n"));
}

TEST(Rules, ReadAnewAreAppliedToManyMembershipsInTurns) {
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) {
    each->connect();
    for (int i = 0; i < 2'500; ++i) each->join("g" + std::to_string(i));
    daemon.run();
    each->take();
  }
  Options rules = options();
  rules.groups[0].join = false;
  daemon.sessions->reconfigure(daemon.now, rules);
  daemon.sessions->work(daemon.now);
  EXPECT_EQ(daemon.waiting.size(), 1'000U);
  EXPECT_EQ(daemon.sessions->next_deadline(), daemon.now);
  for (int i = 0; i < 10; ++i) daemon.pass(milliseconds(1));
  daemon.run();
  for (Client* each : {&x, &y}) {
    std::size_t left = 0;
    for (const std::string& text : each->take()) left += text.rfind("left ", 0) == 0 ? 1U : 0U;
    EXPECT_EQ(left, 2'500U);
  }
}

TEST(Rules, ReadAnewAllowASessionByTheNameThatItHas) {
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) each->connect();
  daemon.run();
  for (Client* each : {&x, &y}) each->take();
  Options rules = options();
  rules.clients[0].names = "x";
  daemon.sessions->reconfigure(daemon.now, rules);
  daemon.run();
  EXPECT_THAT(x.take(), ElementsAre());
  EXPECT_THAT(y.take(), ElementsAre("closing not_permitted"));
}

TEST(Rules, ReadAnewLeaveWhatCannotChangeAsItIs) {
  Daemon daemon;
  Options rules = options();
  rules.cluster = "another";
  rules.node = "m";
  rules.message_bytes_max = 100'000;
  daemon.sessions->reconfigure(daemon.now, rules);
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  const wire::Framed framed = wire::next_record(daemon.pipe(x.connection).from_daemon, 10'000);
  wire::Welcome welcome;
  ASSERT_EQ(decode(framed.record.body, welcome), wire::Drop::none);
  EXPECT_EQ(welcome.cluster, "demo");
  EXPECT_EQ(welcome.node, "n");
  EXPECT_EQ(welcome.message_bytes_max, options().message_bytes_max - kMessageOverheadMax);
}

TEST(Rules, WhomTheyDoNotAllowAnyMoreIsNoLongerCounted) {
  Options rules = options();
  rules.clients = {{{Who::Kind::uid, 7, {}}, "*"}, {{Who::Kind::uid, 8, {}}, "*"}};
  Daemon daemon(rules);
  Client x(daemon, "x", 60'000, user(7, "ann")), y(daemon, "y", 60'000, user(8, "bob"));
  Client late(daemon, "late", 60'000, user(8, "bob"));
  for (Client* each : {&x, &y}) each->connect();
  daemon.run();
  rules.clients = {{{Who::Kind::uid, 8, {}}, "*", 1}};
  daemon.sessions->reconfigure(daemon.now, rules);
  daemon.run();  // ends the session of x, which no rule allows any more
  EXPECT_EQ(daemon.sessions->sessions(), 1U);
  late.connect();
  daemon.run();
  EXPECT_THAT(late.take(), ElementsAre("closing too_many"));
}

TEST(Rules, CountTheSessionsOfEachAlsoWhenTheyAreReadAnew) {
  Options rules = options();
  rules.clients[0].sessions_max = 2;
  Daemon daemon(rules);
  Client x(daemon, "x", 0), y(daemon, "y"), z(daemon, "z");
  x.connect();
  y.connect();
  daemon.run();
  rules.clients.insert(rules.clients.begin(), {{Who::Kind::uid, 99, {}}, "*", 1, 1, 0, false});
  daemon.sessions->reconfigure(daemon.now, rules);
  z.connect();
  daemon.run();
  EXPECT_THAT(z.take(), ElementsAre("closing too_many"));
  x.cut();
  daemon.run();
  z.connect();
  daemon.run();
  EXPECT_THAT(z.take(), ElementsAre("welcome #z#n"));
}

TEST(Options, SayWhatIsWrongAndWhatIsAccepted) {
  EXPECT_EQ(validate(options()), "");
  const auto wrong = [](const std::function<void(Options&)>& change) {
    Options changed = options();
    change(changed);
    return validate(changed);
  };
  EXPECT_THAT(wrong([](Options& o) { o.node = "a#b"; }), HasSubstr("the node is 'a#b'"));
  EXPECT_THAT(wrong([](Options& o) { o.cluster = ""; }), HasSubstr("name of the cluster"));
  EXPECT_THAT(wrong([](Options& o) { o.nodes = 0; }), HasSubstr("nodes is 0"));
  EXPECT_THAT(wrong([](Options& o) { o.message_bytes_max = 20'000; }),
              HasSubstr("message_bytes_max is 20000"));
  EXPECT_THAT(wrong([](Options& o) { o.sessions_max = 0; }), HasSubstr("sessions_max is 0"));
  EXPECT_THAT(wrong([](Options& o) { o.input_bytes_max = 1; }), HasSubstr("input_bytes_max is 1"));
  EXPECT_THAT(wrong([](Options& o) { o.unsettled_messages_max = 0; }),
              HasSubstr("unsettled_messages_max"));
  EXPECT_THAT(wrong([](Options& o) { o.ping = {}; }), HasSubstr("ping"));
  EXPECT_THAT(wrong([](Options& o) { o.clients[0].names = "a*b"; }), HasSubstr("'a*b'"));
  EXPECT_THAT(wrong([](Options& o) { o.groups[0].groups = ""; }), HasSubstr("groups of a group"));
  EXPECT_THAT(wrong([](Options& o) { o.slow.policy = wire::SlowPolicy::normal; }),
              HasSubstr("slow.policy"));
  EXPECT_THAT(wrong([](Options& o) { o.slow.memory_bytes = 1; }),
              HasSubstr("slow.memory_bytes is 1"));
  EXPECT_THAT(wrong([](Options& o) { o.slow.disk_bytes = 1; }), HasSubstr("slow.disk_bytes is 1"));
  EXPECT_THAT(wrong([](Options& o) { o.memory_bytes_max = 1; }),
              HasSubstr("memory_bytes_max is 1"));
}

TEST(Options, AcceptBothEndsOfEveryRange) {
  const auto with = [](const std::function<void(Options&)>& change) {
    Options changed = options();
    change(changed);
    return validate(changed);
  };
  const std::uint64_t record = (1ULL << 20) + wire::kRequestLengthMax;
  struct Bound {
    std::function<void(Options&)> last, beyond;
  };
  const Bound bounds[] = {
      {[](Options& o) { o.cluster.assign(wire::kClientNameMax, 'x'); },
       [](Options& o) { o.cluster.assign(wire::kClientNameMax + 1, 'x'); }},
      {[](Options& o) { o.sessions_max = 1; }, [](Options& o) { o.sessions_max = 0; }},
      {[](Options& o) { o.message_bytes_max = 2 * kMessageOverheadMax; },
       [](Options& o) { o.message_bytes_max = 2 * kMessageOverheadMax - 1; }},
      {[&](Options& o) { o.input_bytes_max = record; },
       [&](Options& o) { o.input_bytes_max = record - 1; }},
      {[](Options& o) { o.unsettled_messages_max = 1; },
       [](Options& o) { o.unsettled_messages_max = 0; }},
      {[](Options& o) { o.unsettled_bytes_max = 1; },
       [](Options& o) { o.unsettled_bytes_max = 0; }},
      {[](Options& o) { o.hello_patience = nanoseconds(1); },
       [](Options& o) { o.hello_patience = {}; }},
      {[](Options& o) { o.ping = nanoseconds(1); }, [](Options& o) { o.ping = {}; }},
      {[](Options& o) { o.clients[0].bytes_per_second = kQuotaBytesMax; },
       [](Options& o) { o.clients[0].bytes_per_second = kQuotaBytesMax + 1; }},
      {[](Options& o) { o.clients[0].names = "ab*"; }, [](Options& o) { o.clients[0].names = ""; }},
      {[](Options& o) { o.groups[0].groups = "*"; }, [](Options& o) { o.groups[0].groups = "*a"; }},
      {[](Options& o) { o.slow.memory_bytes = kSlowBytesMin; },
       [](Options& o) { o.slow.memory_bytes = kSlowBytesMin - 1; }},
      {[](Options& o) { o.slow.disk_bytes = kSlowBytesMin; },
       [](Options& o) { o.slow.disk_bytes = kSlowBytesMin - 1; }},
      {[](Options& o) { o.memory_bytes_max = 4 * kSlowBytesMin; },
       [](Options& o) { o.memory_bytes_max = 4 * kSlowBytesMin - 1; }},
  };
  int row = 0;
  for (const Bound& each : bounds) {
    SCOPED_TRACE(row++);
    EXPECT_EQ(with(each.last), "");
    EXPECT_NE(with(each.beyond), "");
  }
}

}  // namespace
}  // namespace peal::session::test
