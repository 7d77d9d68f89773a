// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/hooks.h"
#include "base/mutants.h"
#include "daemon.h"
#include "resume_talk.h"
#include "with_mutant.h"

// The checks of these tests detect each mutant of sessions.

namespace peal::session::test {
namespace {

using sim_hooks::Mutant;

/// True if a message is acknowledged although only its sender's daemon is known to have it.
bool acked_too_early() {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  x.send("g", "one");
  daemon.pump();
  EXPECT_TRUE(daemon.order_one());
  daemon.pump();
  x.take();
  return x.acked > 0;
}

/// What a member of a group gets if it stops reading for a while: messages, and the number of
/// messages that gaps report.
struct Got {
  std::uint64_t messages = 0;
  std::uint64_t left_out = 0;
  bool in_order = true;
};
Got stops_for_a_while(wire::SlowPolicy policy) {
  Daemon daemon;
  Client slow(daemon, "slow"), sender(daemon, "sender");
  slow.connect();
  slow.join("g", {policy, 8'192, 1U << 20, 0});
  sender.connect();
  daemon.run();
  slow.take();
  daemon.run();
  daemon.let_read(slow.connection, false);
  for (int i = 1; i <= 200; ++i) {
    sender.send("g", std::to_string(i));
    daemon.run();
    sender.take();
  }
  daemon.let_read(slow.connection, true);
  Got got;
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    for (const std::string& text : slow.take_events()) {
      if (text.rfind("gap g ", 0) == 0) got.left_out += std::stoull(text.substr(6));
      if (text.rfind("message g: ", 0) != 0) continue;
      const std::uint64_t number = std::stoull(text.substr(11));
      got.in_order = got.in_order && number > last;
      last = number;
      ++got.messages;
    }
    daemon.run();
  }
  return got;
}

std::uint64_t acked_by_a_small_node() {
  Daemon daemon;
  daemon.room = 2;
  Client x(daemon, "x");
  x.connect();
  for (int i = 0; i < 9; ++i) x.send("g", "payload");
  daemon.run();
  x.take();
  return x.acked;
}

std::uint64_t messages_of_one_sent_twice() {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  x.join("g");
  x.send("g", "once");
  x.bytes(x.sent[1]);
  daemon.run();
  return x.take_events().size();
}

/// True if events in shared memory are replaced before the client reads them.
bool misses_what_was_shared() {
  Cut cut;
  cut.shares = true;
  const Talk talked = talk(cut);
  EXPECT_GT(talked.shared + talked.gone, 0U);
  return talked.gone > 0;
}

/// True if a client whose session was evicted reads late, and takes the new content of the memory
/// for its events.
bool takes_what_is_gone() {
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  for (Client* each : {&x, &y}) {
    each->shares = true;
    each->connect();
    daemon.run();
    each->take();
  }
  x.says_seen = false;
  x.send("#x#n", std::string(600, 'a'));
  daemon.run();
  EXPECT_TRUE(daemon.sessions->evict(daemon.now, "#x#n"));
  daemon.pass(seconds(5));
  x.take();
  return x.gone == 0;
}

TEST(SessionMutants, WithoutOneAllIsWell) {
  EXPECT_FALSE(misses_what_was_shared());
  EXPECT_FALSE(takes_what_is_gone());
  EXPECT_FALSE(acked_too_early());
  EXPECT_EQ(stops_for_a_while(wire::SlowPolicy::spill).messages, 200U);
  EXPECT_TRUE(stops_for_a_while(wire::SlowPolicy::spill).in_order);
  const Got got = stops_for_a_while(wire::SlowPolicy::drop);
  EXPECT_GT(got.left_out, 0U);
  EXPECT_EQ(got.messages + got.left_out, 200U);
  EXPECT_EQ(acked_by_a_small_node(), 9U);
  EXPECT_EQ(messages_of_one_sent_twice(), 2U);
}

TEST(SessionMutants, SettledEarlyIsNoticed) {
  const WithMutant mutant(Mutant::sm1_settled_early);
  EXPECT_TRUE(acked_too_early());
}

TEST(SessionMutants, AnEventMissingAfterAResumptionIsNoticed) {
  const Talk whole = talk({});
  bool noticed = false;
  const WithMutant mutant(Mutant::sm2_resume_drops_one);
  for (std::size_t at = 0; at < whole.output_bytes && !noticed; at += 50) {
    Cut cut;
    cut.output = at;
    noticed = !same(whole, talk(cut));
  }
  EXPECT_TRUE(noticed);
}

TEST(SessionMutants, SpilledOutOfOrderIsNoticed) {
  const WithMutant mutant(Mutant::sm3_spill_out_of_order);
  EXPECT_FALSE(stops_for_a_while(wire::SlowPolicy::spill).in_order);
}

TEST(SessionMutants, AForgottenGapIsNoticed) {
  const WithMutant mutant(Mutant::sm4_gap_forgotten);
  const Got got = stops_for_a_while(wire::SlowPolicy::drop);
  EXPECT_LT(got.messages + got.left_out, 200U);
}

TEST(SessionMutants, BlockedForeverIsNoticed) {
  const WithMutant mutant(Mutant::sm5_blocked_forever);
  EXPECT_LT(acked_by_a_small_node(), 9U);
}

TEST(SessionMutants, LetGoWhenWrittenIsNoticed) {
  const WithMutant mutant(Mutant::sm7_let_go_when_written);
  EXPECT_TRUE(misses_what_was_shared());
}

TEST(SessionMutants, IgnoredGenerationIsNoticed) {
  const WithMutant mutant(Mutant::sm8_generation_ignored);
  EXPECT_TRUE(takes_what_is_gone());
}

TEST(SessionMutants, TakenTwiceIsNoticed) {
  const WithMutant mutant(Mutant::sm6_taken_twice);
  EXPECT_EQ(messages_of_one_sent_twice(), 3U);
}

}  // namespace
}  // namespace peal::session::test
