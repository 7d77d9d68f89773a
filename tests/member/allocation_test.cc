// SPDX-License-Identifier: Apache-2.0

#include "allocations.h"
#include "members.h"

namespace peal::test {
namespace {

/// Sends `count` messages from each member, and reads all of them at all members. Keeps no message.
bool run_messages(Sites& sites, std::size_t count) {
  const std::string text(300, 'x');
  std::vector<std::size_t> sent(sites.size()), own(sites.size()), got(sites.size());
  const auto end = std::chrono::steady_clock::now() + 120s;
  const std::size_t all = count * sites.size();
  while (std::chrono::steady_clock::now() < end) {
    bool done = true;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      for (; sent[i] < count && sent[i] < own[i] + 50; ++sent[i]) {
        const auto ticket = sites[i]->member->multicast(
            std::string_view(text).substr(0, sent[i] % 300), Service::agreed);
        if (!ticket) return false;
      }
      for (auto event = sites[i]->member->wait(1ms); event; event = sites[i]->member->next()) {
        const auto* message = std::get_if<Message>(&*event);
        if (message == nullptr) return false;
        ++got[i];
        if (message->own) ++own[i];
      }
      done = done && got[i] == all;
    }
    if (done) return true;
  }
  return false;
}

TEST(MemberAllocation, SmallMessagesAllocateNothingOnceAllIsWarm) {
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_TRUE(run_messages(sites, 2'000));
  const std::uint64_t before = allocations();
  ASSERT_TRUE(run_messages(sites, 5'000));
  constexpr std::uint64_t kOfTheTest = 4;  // run_messages() allocates a text and three vectors
  EXPECT_EQ(allocations() - before, kOfTheTest);
}

}  // namespace
}  // namespace peal::test
