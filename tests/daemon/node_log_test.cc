// SPDX-License-Identifier: Apache-2.0
#include "daemon/node_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace peal::daemon {
namespace {

TEST(NodeLog, WritesKeysAndValues) {
  EXPECT_EQ(NodeLog::line(false, "view_installed", {{"view", "12@a"}, {"members", "a,b"}}),
            "event=view_installed view=12@a members=a,b");
  EXPECT_EQ(NodeLog::line(true, "x", {{"view", "12@a"}}), R"({"event":"x","view":"12@a"})");
}

TEST(NodeLog, ValuesCannotForgeALine) {
  EXPECT_EQ(NodeLog::line(false, "warning", {{"text", "a b\nevent=forged \"x\""}}),
            R"(event=warning text="a b\nevent=forged \"x\"")");
  EXPECT_EQ(NodeLog::line(false, "warning", {{"text", ""}}), "event=warning text=\"\"");
  EXPECT_THAT(NodeLog::line(false, "w", {{"text", "\xff\x01"}}),
              testing::Not(testing::HasSubstr("\x01")));
}

/// A pipe to which a log writes.
struct Pipe {
  explicit Pipe(int size = 0) {
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    if (size > 0) {
      EXPECT_GE(::fcntl(ends[1], F_SETPIPE_SZ, size), size);
    }
  }
  /// Closes only the read end, because the thread of a log may still write.
  ~Pipe() {
    if (ends[0] >= 0) ::close(ends[0]);
  }
  /// Reads the pipe until the text contains `end`, or until nothing comes for a minute.
  std::string read(const std::string& end) {
    std::string text;
    char part[4'096];
    pollfd ready{ends[0], POLLIN, 0};
    while (text.find(end) == std::string::npos && ::poll(&ready, 1, 60'000) == 1) {
      const ssize_t got = ::read(ends[0], part, sizeof part);
      if (got <= 0) break;
      text.append(part, static_cast<std::size_t>(got));
    }
    return text;
  }
  int ends[2] = {-1, -1};
};

NodeLog open_log(int fd) {
  auto log = NodeLog::open(false, fd);
  EXPECT_TRUE(log) << log.error().message;
  return std::move(*log);
}

TEST(NodeLog, LimitsWhatOthersCanCause) {
  Pipe pipe;
  NodeLog log = open_log(pipe.ends[1]);
  for (int i = 0; i < 50; ++i) log.limited(1'000, "warning", {{"text", "x"}});
  log.limited(10'000'000'000, "warning", {{"text", "later"}});
  const std::string out = pipe.read("later\n");
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 22);
  EXPECT_THAT(out, testing::HasSubstr("event=lines_left_out count=30"));
}

TEST(NodeLog, AReaderThatHasStoppedHoldsUpNobody) {
  Pipe pipe(4'096);
  NodeLog log = open_log(pipe.ends[1]);
  const std::string text(200, 'x');
  // Writes far more lines than the pipe and the queue hold, while nobody reads.
  for (int i = 0; i < 5'000; ++i) log.event("line", {{"text", text}});
  EXPECT_GT(log.dropped(), 1'000U);
  log.event("last", {});
  // The log may have found space in between. Then more lines follow a lines_dropped line.
  std::string out;
  std::uint64_t lines = 0;
  while (lines + log.dropped() < 5'001) {
    const std::string more = pipe.read("\n");
    ASSERT_FALSE(more.empty()) << lines << " lines and " << log.dropped() << " dropped";
    out += more;
    lines = 0;
    std::size_t from = 0;
    for (std::size_t end = out.find('\n'); end != std::string::npos; end = out.find('\n', from)) {
      const std::string_view line(out.data() + from, end - from);
      lines += line.find("event=lines_dropped") == std::string_view::npos ? 1U : 0U;
      from = end + 1;
    }
  }
  EXPECT_EQ(lines + log.dropped(), 5'001U) << "all are counted";
  EXPECT_THAT(out, testing::HasSubstr("event=lines_dropped count="));
}

TEST(NodeLog, AReaderThatIsGoneEndsNobody) {
  Pipe pipe;
  NodeLog log = open_log(pipe.ends[1]);
  ::close(std::exchange(pipe.ends[0], -1));
  log.event("one", {});
  log.event("two", {});
  while (log.dropped() < 2) std::this_thread::yield();
}

TEST(NodeLog, TheEndIsNotHeldUp) {
  Pipe pipe(4'096);
  {
    NodeLog log = open_log(pipe.ends[1]);
    for (int i = 0; i < 1'000; ++i) log.event("line", {{"text", std::string(200, 'x')}});
  }
  EXPECT_THAT(pipe.read("event=line"), testing::HasSubstr("event=line"));
}

}  // namespace
}  // namespace peal::daemon
