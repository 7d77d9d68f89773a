// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon.h"
#include "resume_talk.h"

namespace peal::session::test {
namespace {

/// Every byte of the talk, in either direction, is the last one before a cut: the result is that of
/// the talk that was not cut.
TEST(Resume, IsTheSameWhereverTheConnectionIsCut) {
  const Talk whole = talk({});
  ASSERT_GT(whole.input_bytes, 300U);
  ASSERT_GT(whole.output_bytes, 800U);
  EXPECT_EQ(whole.cuts, 0U);
  for (std::size_t at = 0; at <= whole.input_bytes; ++at) {
    Cut cut;
    cut.input = at;
    const Talk other = talk(cut);
    EXPECT_EQ(other.cuts, at < whole.input_bytes ? 1U : other.cuts);
    ASSERT_TRUE(same(whole, other)) << "cut after " << at << " bytes of the client";
  }
  for (std::size_t at = 0; at <= whole.output_bytes; ++at) {
    Cut cut;
    cut.output = at;
    ASSERT_TRUE(same(whole, talk(cut))) << "cut after " << at << " bytes of the daemon";
  }
}

TEST(Resume, IsTheSameIfTheNewConnectionIsCutToo) {
  const Talk whole = talk({});
  for (const std::size_t first :
       {std::size_t{40}, whole.output_bytes / 2, whole.output_bytes - 9}) {
    for (std::size_t at = 0; at < 200; ++at) {
      Cut cut;
      cut.output = first;
      cut.again_input = at;
      ASSERT_TRUE(same(whole, talk(cut))) << first << ", then " << at << " of the client";
      cut.again_input = ~std::size_t{0};
      cut.again_output = at;
      ASSERT_TRUE(same(whole, talk(cut))) << first << ", then " << at << " of the daemon";
    }
  }
}

TEST(Resume, EventsThatCannotBeSeenEndTheSession) {
  Daemon daemon;
  Client x(daemon, "x");
  x.connect();
  daemon.run();
  x.take();
  x.events = 3;
  x.seen();
  daemon.run();
  EXPECT_EQ(x.take(), std::vector<std::string>{"closing bad_record"});
  EXPECT_EQ(daemon.sessions->sessions(), 0U);
}

TEST(Resume, EventsWaitUntilTheyAreSeenAndNotLonger) {
  Daemon daemon;
  Client x(daemon, "x");
  x.says_seen = false;
  x.connect();
  x.join("g");
  for (int i = 0; i < 10; ++i) x.send("g", "payload");
  daemon.run();
  x.take();
  daemon.pump();
  EXPECT_GT(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  x.seen();
  EXPECT_EQ(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  // Who said so cannot go back.
  x.cut();
  x.events = 5;
  x.connect();
  daemon.run();
  const auto& bytes = daemon.pipe(x.connection).from_daemon;
  const wire::Framed framed = wire::next_record(bytes, 10'000);
  EXPECT_EQ(framed.record.kind, wire::RecordKind::closing);
}

TEST(Resume, WithoutAKeepNothingWaitsOnceItIsWritten) {
  Daemon daemon;
  Client x(daemon, "x", 0);
  x.says_seen = false;
  x.connect();
  x.join("g");
  for (int i = 0; i < 10; ++i) x.send("g", "payload");
  daemon.run();
  EXPECT_EQ(daemon.sessions->status(daemon.now).memory_bytes, 0U);
  EXPECT_EQ(x.take_events().size(), 11U);
}

}  // namespace
}  // namespace peal::session::test
