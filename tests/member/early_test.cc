// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "members.h"
#include "trace_check.h"

// Optimistic delivery, as an application sees it.

namespace peal::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EarlyMembers : public ::testing::Test {
 protected:
  EarlyMembers()
      : folder_(fs::path(testing::TempDir()) / ("peal-early-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  ~EarlyMembers() override { fs::remove_all(folder_); }

  void set(Config& config) const {
    config.order = Ridge{.data_dir = folder_, .optimistic = true};
    config.trace = trace(config.name);
  }
  std::string trace(const std::string& name) const { return folder_ / (name + ".trace"); }
  std::string refusal(const std::function<void(Config&)>& change) const {
    Config config = config_of(1, 1);
    set(config);
    change(config);
    auto made = Member::embed(config);
    return made ? "it started" : made.error().message;
  }

  fs::path folder_;
};

/// Keeps the early events, and compares each delivered message with its early event.
struct Application {
  using Id = std::tuple<std::string, std::string, std::uint64_t>;  ///< view, sender, number
  struct Told {
    std::string text;
    std::uint64_t position;
    std::uint32_t index;
  };

  void take(const Event& event) {
    if (const auto* early = std::get_if<Early>(&event)) {
      const Message& m = early->message;
      EXPECT_FALSE(m.as_guessed);
      const Id id{std::string(m.view), std::string(m.sender), m.number};
      EXPECT_TRUE(told.emplace(id, Told{std::string(m.text()), m.position, m.index}).second);
    }
    if (const auto* message = std::get_if<Message>(&event)) {
      ++messages;
      const auto found =
          told.find(Id{std::string(message->view), std::string(message->sender), message->number});
      ASSERT_NE(found, told.end()) << message->number;
      const Told& was = found->second;
      EXPECT_EQ(was.text, message->text());
      EXPECT_EQ(std::pair(was.position, was.index) == std::pair(message->position, message->index),
                message->as_guessed);
      if (message->as_guessed) ++right;
    }
  }

  std::map<Id, Told> told;
  std::size_t messages = 0;
  std::size_t right = 0;
};

TEST_F(EarlyMembers, TellEachMessageBeforeItHasItsPlaceAndThenWhetherTheGuessWasRight) {
  Sites sites = start(3, [this](Config& config) { set(config); });
  ASSERT_EQ(sites.size(), 3U);
  constexpr std::size_t kEach = 200;
  for (std::size_t i = 0; i < kEach; ++i) {
    for (auto& site : sites) {
      // Some messages share a packet, others take many packets.
      ASSERT_TRUE(site->member->multicast(pattern((i * 401) % 9'000, i), Service::agreed));
    }
  }
  std::vector<Application> applications(sites.size());
  const auto until = std::chrono::steady_clock::now() + 60s;
  const auto done = [&] {
    return std::all_of(applications.begin(), applications.end(),
                       [&](const Application& a) { return a.messages == kEach * sites.size(); });
  };
  while (!done() && std::chrono::steady_clock::now() < until) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      while (const auto event = sites[s]->member->wait(1ms)) applications[s].take(*event);
    }
  }
  ASSERT_TRUE(done());
  for (const Application& each : applications) EXPECT_GT(each.right, 0U);
  for (auto& site : sites) site->member->leave();
  sites.clear();
  const Judgement judgement = judge({trace("n1"), trace("n2"), trace("n3")}, 3);
  EXPECT_EQ(judgement.problem, "");
  EXPECT_EQ(judgement.deliveries, 3 * 3 * kEach);
}

TEST_F(EarlyMembers, WithoutTheOptionNothingIsTold) {
  Sites sites = start(2, [this](Config& config) {
    set(config);
    ridge_of(config).optimistic = false;
  });
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_TRUE(sites[0]->member->multicast("a", Service::agreed));
  std::size_t messages = 0;
  for (int i = 0; i < 10'000 && messages == 0; ++i) {
    const auto event = sites[1]->member->wait(1ms);
    if (!event) continue;
    EXPECT_EQ(std::get_if<Early>(&*event), nullptr);
    if (const auto* message = std::get_if<Message>(&*event)) {
      ++messages;
      EXPECT_FALSE(message->as_guessed);
    }
  }
  EXPECT_EQ(messages, 1U);
}

TEST_F(EarlyMembers, WhatMakesNoGuessIsRefused) {
  EXPECT_THAT(refusal([](Config& config) { ridge_of(config).ensembles = 2; }),
              HasSubstr("ridge.optimistic = true does not go with ridge.ensembles = 2"));
}

}  // namespace
}  // namespace peal::test
