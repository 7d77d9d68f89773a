// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "members.h"
#include "trace_check.h"

namespace peal::test {
namespace {

/// A folder for traces, which is removed after the test.
struct Folder {
  Folder() {
    path = std::filesystem::temp_directory_path() / ("peal-trace-" + std::to_string(::getpid()));
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string trace(std::uint32_t node) const {
    return path / ("n" + std::to_string(node) + ".trace");
  }
  std::vector<std::string> traces(std::uint32_t count) const {
    std::vector<std::string> all;
    for (std::uint32_t node = 1; node <= count; ++node) all.push_back(trace(node));
    return all;
  }
  std::filesystem::path path;
};

/// Three members send messages with all services. The oracle must accept their traces.
void expect_good_traces(const std::function<void(Config&)>& change) {
  Folder folder;
  Sites sites = start(3, [&](Config& config) {
    config.trace = folder.trace(static_cast<std::uint32_t>(config.name[1] - '0'));
    change(config);
  });
  ASSERT_EQ(sites.size(), 3U);
  for (std::size_t i = 0; i < 300; ++i) {
    const std::string text = pattern((i * 57) % 6'000, i);
    ASSERT_TRUE(sites[i % 3]->member->multicast(text, static_cast<Service>(i % 4)));
  }
  ASSERT_TRUE(read_until(sites, [&] {
    return sites[0]->got.size() == 300 && sites[1]->got.size() == 300 &&
           sites[2]->got.size() == 300;
  }));
  for (auto& site : sites) site->member->leave();
  sites.clear();
  const Judgement judgement = judge(folder.traces(3), 3);
  EXPECT_EQ(judgement.problem, "");
  EXPECT_EQ(judgement.messages, 300U);
  EXPECT_EQ(judgement.deliveries, 900U);
}

TEST(MemberTrace, IsWhatTheOracleExpects) {
  expect_good_traces([](Config& config) { ring_of(config).primary = PrimaryRule::majority; });
}

// With ToTo, fifo and causal messages have no place.
TEST(MemberTrace, MessagesWithoutAPlaceAreWhatTheOracleExpects) {
  expect_good_traces(
      [](Config& config) { config.order = Toto{.fault = 10s, .primary = PrimaryRule::majority}; });
}

/// The two ends of a pipe; a child inherits them.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2] = {-1, -1};
};

/// A child process that sends and reads messages until it is stopped or killed.
class Sender {
 public:
  static constexpr std::size_t kStep = 20;  ///< messages delivered between two signs of progress

  explicit Sender(const Config& config) {
    pid_ = ::fork();
    if (pid_ == 0) run(config);
  }
  ~Sender() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    end();
  }
  /// Waits until the process has delivered kStep more messages; false after a minute.
  bool progress() {
    pollfd descriptor{progress_.ends[0], POLLIN, 0};
    char byte;
    return ::poll(&descriptor, 1, 60'000) == 1 && ::read(progress_.ends[0], &byte, 1) == 1;
  }
  void forget_progress() {
    pollfd descriptor{progress_.ends[0], POLLIN, 0};
    char byte;
    while (::poll(&descriptor, 1, 0) == 1 && ::read(progress_.ends[0], &byte, 1) == 1) {
    }
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    end();
  }
  void ask_to_stop() {
    const char byte = 'x';
    EXPECT_EQ(::write(stop_.ends[1], &byte, 1), 1);
  }
  /// Waits until the process ends. Returns its exit status, or -1 if there is no exit status.
  int end() {
    if (pid_ <= 0) return -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  [[noreturn]] void run(const Config& config) {
    auto made = Member::embed(config);
    if (!made) ::_exit(2);
    std::size_t delivered = 0;
    std::uint64_t sent = 0, own = 0;
    pollfd stop{stop_.ends[0], POLLIN, 0};
    while (::poll(&stop, 1, 0) == 0) {
      for (; sent < own + 30; ++sent) {
        const auto service = static_cast<Service>(sent % 4);
        if (!made->multicast(pattern((sent * 97) % 4'000, sent), service)) break;
      }
      for (auto event = made->wait(1ms); event; event = made->next()) {
        const auto* message = std::get_if<Message>(&*event);
        if (message == nullptr) continue;
        if (message->own) own = message->number;
        const char byte = 'x';
        if (++delivered % kStep == 0 && ::write(progress_.ends[1], &byte, 1) != 1) ::_exit(3);
      }
    }
    made->leave(20s);
    ::_exit(0);
  }

  Pipe progress_, stop_;
  pid_t pid_ = -1;
};

/// Three processes run; the third one is killed and restarted three times. Their traces must fulfil
/// all guarantees.
void expect_whole_traces(const std::string& order) {
  Folder folder;
  std::vector<std::unique_ptr<Sender>> senders;
  std::vector<Config> configs;
  for (std::uint32_t node = 1; node <= 3; ++node) {
    Config config = config_of(node, 3);
    config.order =
        Ring{.tunables = {{"token_loss_ms", 500}, {"consensus_ms", 600}, {"probe_ms", 100}}};
    if (order == "paxos") config.order = Paxos{.data_dir = folder.path};
    if (order == "toto") config.order = Toto{.fault = 500ms};
    config.trace = folder.trace(node);
    configs.push_back(config);
    senders.push_back(std::make_unique<Sender>(config));
  }
  const auto all_progress = [&] {
    for (auto& sender : senders) {
      sender->forget_progress();
      for (int i = 0; i < 10; ++i) ASSERT_TRUE(sender->progress());
    }
  };
  for (int round = 0; round < 3; ++round) {
    all_progress();
    if (testing::Test::HasFatalFailure()) return;
    // The third process is killed while it works, and restarts as another incarnation. The others
    // continue.
    senders[2]->kill();
    senders[2] = std::make_unique<Sender>(configs[2]);
  }
  all_progress();
  if (testing::Test::HasFatalFailure()) return;
  for (auto& sender : senders) sender->ask_to_stop();
  for (auto& sender : senders) EXPECT_EQ(sender->end(), 0);
  const Judgement judgement = judge(folder.traces(3), 3);
  EXPECT_EQ(judgement.problem, "");
  EXPECT_GT(judgement.messages, 200U);
  EXPECT_GT(judgement.transitional_views, 0U);
}

TEST(MemberTrace, AKilledProcessHasWrittenAllThatOthersSawOfIt) { expect_whole_traces("ring"); }

TEST(MemberTrace, AKilledAcceptorHasWrittenAllThatOthersSawOfIt) { expect_whole_traces("paxos"); }

TEST(MemberTrace, AKilledMemberWithCausalMessagesHasWrittenAllThatOthersSawOfIt) {
  expect_whole_traces("toto");
}

}  // namespace
}  // namespace peal::test
