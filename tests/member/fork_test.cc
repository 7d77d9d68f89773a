// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "in_child.h"
#include "members.h"
#include "temp_dir.h"

// fork() with an embedded member: only the parent can use the member.

namespace peal::test {
namespace {

constexpr const char* kRemedy = "made before fork(): open a new one";

template <class T>
std::string wrong(const char* call, const Result<T>& answer) {
  if (answer) return std::string(call) + " did something; ";
  if (answer.error().code != ErrorCode::closed ||
      answer.error().message.find(kRemedy) == std::string::npos) {
    return std::string(call) + " said " + answer.error().message + "; ";
  }
  return {};
}

/// Calls every function of a parent's member, and destroys the member. Returns what went wrong.
std::string use(Member& member, bool wait_first) {
  std::string problems;
  const auto event = wait_first ? member.wait(1h) : member.next();
  const auto* closed = event ? std::get_if<Closed>(&*event) : nullptr;
  if (closed == nullptr || closed->on_request ||
      closed->reason.find(kRemedy) == std::string::npos) {
    problems += "it did not say that it has ended; ";
  }
  if (member.next() || member.wait(1h)) problems += "there is something behind the end; ";
  problems += wrong("multicast", member.multicast("from the child", Service::agreed));
  problems += wrong("multicast_for", member.multicast_for({}, Service::safe, 1h));
  problems += wrong("reload_keys", member.reload_keys());
  problems += wrong("set_nodes", member.set_nodes({{"n1", "127.0.0.1:1"}}));
  if (member.fd() >= 0) problems += "it has a descriptor; ";
  if (!member.id().empty()) problems += "it has an id; ";
  if (member.status().waits_for.find(kRemedy) == std::string::npos) problems += "status(); ";
  member.leave();
  { const Member end(std::move(member)); }
  if (descriptors_of_kind("socket:") > 0) problems += "it has the parent's sockets; ";
  return problems;
}

void expect_unnoticed(Sites& sites) {
  std::vector<std::size_t> views;
  for (const auto& site : sites) views.push_back(site->views.size());
  EXPECT_EQ(in_child([&] { return use(*sites[0]->member, true); }), "");
  EXPECT_EQ(in_child([&] { return use(*sites[0]->member, false); }), "");
  ASSERT_TRUE(sites[0]->member->multicast("from the parent", Service::safe));
  const auto came = [&] {
    for (const auto& site : sites) {
      if (site->got.empty() || site->got.back().text != "from the parent") return false;
    }
    return true;
  };
  ASSERT_TRUE(read_until(sites, came));
  for (std::size_t i = 0; i < sites.size(); ++i) {
    EXPECT_EQ(sites[i]->views.size(), views[i]) << "nobody noticed the child";
  }
}

TEST(Fork, AMemberWithAThreadStaysTheParents) {
  PEAL_NEEDS_FORK();
  Sites sites = start(2);
  ASSERT_EQ(sites.size(), 2U);
  expect_unnoticed(sites);
}

TEST(Fork, AMemberInTheCallersThreadStaysTheParents) {
  PEAL_NEEDS_FORK();
  Sites sites = start(1, [](Config& config) { config.thread = Thread::caller; });
  ASSERT_EQ(sites.size(), 1U);
  expect_unnoticed(sites);
}

TEST(Fork, AChildDoesNotKeepTheFolderOfALogLocked) {
  PEAL_NEEDS_FORK();
  const TempDir folder;
  Config config = config_of(1, 1);
  config.order = Paxos{.data_dir = folder.path()};
  std::string problem = "not run";
  {
    Sites sites;
    sites.push_back(std::make_unique<Site>(config));
    ASSERT_NE(sites[0]->member, nullptr);
    ASSERT_TRUE(read_until(sites, [&] { return sites[0]->members() == 1; }));
    problem = in_child([&] {
      // The child does not destroy its copy of the member. The descriptors in the child are closed
      // nevertheless.
      return descriptors_of_kind(folder.path()) == 0 ? "" : "the log is open in the child";
    });
    EXPECT_GT(descriptors_of_kind(folder.path()), 0);
  }
  EXPECT_EQ(problem, "");
}

}  // namespace
}  // namespace peal::test
