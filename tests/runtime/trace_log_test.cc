// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace/json.h"

namespace peal::runtime {
namespace {

const MemberId kTracedSelf{NodeId{1}, 7};

/// Writes a trace with `write`, and returns its events.
template <class Write>
std::vector<trace::Event> traced(Write&& write) {
  const std::string path = std::filesystem::path(::testing::TempDir()) /
                           ("peal_trace_log_" + std::to_string(::getpid()));
  trace::Names names;
  names.set(NodeId{1}, "a");
  {
    auto log = TraceLog::open(path, names, {"ridge", false, DomainSet::of(2)});
    if (!log) return {};
    (*log)->start(kTracedSelf);
    write(**log);
    (*log)->flush();
  }
  std::vector<trace::Event> events;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto event = trace::parse_json(line, names);
    EXPECT_TRUE(event.has_value()) << line;
    if (event) events.push_back(std::move(*event));
  }
  std::filesystem::remove(path);
  return events;
}

TEST(TraceLog, NamesDomainsOfTheNodeAndDestinationsOfMessages) {
  const DomainSet both = DomainSet::up_to(2);
  const auto events = traced([&](TraceLog& log) {
    const ViewId view{1, kTracedSelf};
    const std::vector<MemberId> members{kTracedSelf};
    log.view({false, view, {}, members, {}});
    log.submit(1, Service::agreed, {}, both);
    log.originate({1, view, 18, 0, Service::agreed, both});
    node::Message message;
    message.sender = kTracedSelf;
    message.number = 1;
    message.view = view;
    message.seq = 18;
    message.domains = both;
    log.deliver(message);
  });
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].kind, trace::Kind::start);
  EXPECT_EQ(events[0].domains, DomainSet::of(2));
  for (std::size_t i = 2; i < events.size(); ++i) EXPECT_EQ(events[i].domains, both);
}

// A submission waits until the incarnation in its name is final. A node that is in no view knows
// that from the place of its first message.
TEST(TraceLog, WritesSubmissionsWithTheFinalIncarnation) {
  const MemberId corrected{NodeId{1}, 9};
  const auto events = traced([&](TraceLog& log) {
    log.submit(1, Service::agreed, {}, DomainSet::of(1));
    log.submit(2, Service::agreed, {}, DomainSet::of(1));
    log.start(corrected);
    log.originate({1, {}, 17, 0, Service::agreed, DomainSet::of(1)});
    log.submit(3, Service::agreed, {}, DomainSet::of(1));
  });
  ASSERT_EQ(events.size(), 6U);
  const trace::Kind kinds[] = {trace::Kind::start,  trace::Kind::start,     trace::Kind::submit,
                               trace::Kind::submit, trace::Kind::originate, trace::Kind::submit};
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].kind, kinds[i]) << i;
    if (i >= 2) {
      EXPECT_EQ(events[i].message.sender, corrected) << i;
    }
  }
  EXPECT_EQ(events[4].view.number, 0U);
}

}  // namespace
}  // namespace peal::runtime
