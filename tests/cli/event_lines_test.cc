// SPDX-License-Identifier: Apache-2.0
#include "cli/client/event_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Json = nlohmann::json;

/// The id of a group's view, with the branch that all members of the node view share.
std::string view_id(std::uint64_t index) {
  return "4@1.987654321/" + std::to_string((std::uint64_t{1} << 56) + index);
}

v0::GroupView view(const std::string& group, std::uint64_t index) {
  v0::GroupView out;
  out.group = group;
  out.id = view_id(index);
  out.cause = v0::ViewCause::join;
  out.changed = "#b#n2";
  out.members = {{"#a#n1", true}, {"#b#n2", false}};
  return out;
}

/// Owns all data to which the GroupMessage in event() points.
struct Message {
  std::vector<std::string_view> targets;
  std::string text;
  std::uint64_t position = 1;
  Service service = Service::safe;

  v0::ClientEvent event() const {
    v0::GroupMessage out;
    out.sender = "#a#n1";
    out.targets = targets;
    out.service = service;
    out.place = {4, position, 0};
    out.number = position == 0 ? 23 : 0;
    out.payload = as_bytes_view(text);
    return out;
  }
};

std::vector<std::string> lines_of(EventLines& lines) {
  std::istringstream in(std::exchange(lines.text(), {}));
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(EventLines, MessagesAreTheirText) {
  EventLines lines({});
  EXPECT_FALSE(lines.take(view("g", 1)));
  EXPECT_TRUE(lines.take(Message{{"g"}, "hello"}.event()));
  EXPECT_TRUE(lines.take(Message{{"g"}, ""}.event()));
  EXPECT_FALSE(lines.take(v0::Left{"g"}));
  EXPECT_FALSE(lines.take(v0::SlowWarning{}));
  EXPECT_FALSE(lines.take(v0::Reconnected{}));
  lines.finish();
  EXPECT_THAT(lines_of(lines), ElementsAre("hello", ""));
}

TEST(EventLines, WhatIsMissingIsAlwaysSaid) {
  EventLines text({});
  v0::Gap gap;
  gap.group = "g";
  gap.messages = 7;
  gap.bytes = 70;
  EXPECT_FALSE(text.take(gap));
  EXPECT_THAT(lines_of(text), ElementsAre("# gap group=g reason=slow messages=7 bytes=70"));
  EventLines digest({.digest = true});
  digest.take(view("g", 1));
  digest.take(gap);
  digest.finish();
  EXPECT_THAT(lines_of(digest),
              ElementsAre("# gap group=g reason=slow messages=7 bytes=70",
                          "# digest view=4@1/1 messages=0 bytes=0 order=0000000000000000 group=g "
                          "missing=7"));
}

TEST(EventLines, WhatIsMissingSinceTheDaemonWasAwayHasNoCount) {
  v0::Gap gap;
  gap.group = "g";
  gap.reason = v0::GapReason::away;
  EventLines text({});
  EXPECT_FALSE(text.take(gap));
  EXPECT_THAT(lines_of(text), ElementsAre("# gap group=g reason=away messages=0 bytes=0"));
  EventLines json({.json = true});
  json.take(gap);
  EXPECT_EQ(Json::parse(lines_of(json).front())["reason"], "away");
  EventLines digest({.digest = true});
  digest.take(view("g", 1));
  digest.take(gap);
  digest.finish();
  EXPECT_THAT(lines_of(digest),
              ElementsAre("# gap group=g reason=away messages=0 bytes=0",
                          "# digest view=4@1/1 messages=0 bytes=0 order=0000000000000000 group=g "
                          "away=1"));
}

TEST(EventLines, ViewsTellWhoIsThereAndWhy) {
  EventLines lines({.views = true});
  lines.take(view("g", 3));
  v0::GroupView gone = view("g", 4);
  gone.cause = v0::ViewCause::disconnect;
  gone.reason = v0::Reason::slow;
  lines.take(gone);
  lines.take(v0::Transitional{"g"});
  lines.take(v0::Left{"g"});
  v0::SlowWarning slow;
  slow.group = "g";
  slow.policy = v0::SlowPolicy::evict;
  slow.bytes = 5;
  slow.bytes_max = 9;
  lines.take(slow);
  EXPECT_THAT(lines_of(lines),
              ElementsAre("# view 4@1/3 group=g members=#a#n1,#b#n2 cause=join changed=#b#n2",
                          "# view 4@1/4 group=g members=#a#n1,#b#n2 cause=disconnect changed=#b#n2 "
                          "reason=slow",
                          "# transitional group=g", "# left group=g",
                          "# slow group=g policy=evict bytes=5 bytes_max=9"));
}

/// The output of a client in groups g and h: `messages` arrive, then a new view of g, then the end.
std::vector<std::string> digests(const std::vector<Message>& messages) {
  EventLines lines({.digest = true});
  lines.take(view("g", 1));
  lines.take(view("h", 2));
  for (const Message& message : messages) EXPECT_TRUE(lines.take(message.event()));
  lines.take(view("g", 3));
  lines.finish();
  return lines_of(lines);
}

TEST(EventLines, DigestsCoverOneViewOfOneGroup) {
  const Message g{{"g"}, "x", 1}, h{{"h"}, "y", 2}, both{{"g", "h"}, "z", 3};
  const auto first = digests({g, h, both});
  ASSERT_EQ(first.size(), 3U);
  EXPECT_THAT(first[0], StartsWith("# digest view=4@1/1 messages=2 bytes=2 order="));
  EXPECT_THAT(first[1], StartsWith("# digest view=4@1/3 messages=0 "));
  EXPECT_THAT(first[2], StartsWith("# digest view=4@1/2 messages=2 bytes=2 order="));
  EXPECT_THAT(first[2], HasSubstr(" group=h"));
  // A digest ignores messages of other groups. It depends on the order and the content.
  const auto without = digests({g, both});
  EXPECT_EQ(without[0], first[0]);
  EXPECT_NE(without[2], first[2]);
  EXPECT_NE(digests({both, h, g})[0], first[0]);
  EXPECT_NE(digests({g, h, Message{{"g", "h"}, "w", 3}})[0], first[0]);
  EXPECT_NE(digests({g, h, Message{{"g", "h"}, "z", 4}})[0], first[0]);
}

TEST(EventLines, MessagesWithoutAPlaceAreNotInDigests) {
  const Message first{{"g"}, "x", 1}, second{{"g"}, "z", 3};
  const Message causal{{"g"}, "y", 0, Service::causal};
  const std::string without = digests({first, second}).front();
  EXPECT_EQ(digests({first, causal, second}).front(), without + " without_place=1");
  EXPECT_EQ(digests({causal, first, second}).front(), without + " without_place=1");
  EventLines json({.json = true, .digest = true});
  json.take(view("g", 1));
  json.take(causal.event());
  json.finish();
  const Json digest = Json::parse(lines_of(json).front());
  EXPECT_EQ(digest["messages"], 0);
  EXPECT_EQ(digest["without_place"], 1);
}

TEST(EventLines, JsonNamesTheServiceAndTheNumberOfAMessageWithoutAPlace) {
  const std::pair<Service, const char*> services[] = {{Service::fifo, "fifo"},
                                                      {Service::causal, "causal"},
                                                      {Service::agreed, "agreed"},
                                                      {Service::safe, "safe"}};
  for (const auto& [service, word] : services) {
    EventLines lines({.json = true});
    const std::uint64_t position = is_ordered(service) ? 9 : 0;
    lines.take(Message{{"g"}, "hello", position, service}.event());
    const Json message = Json::parse(lines_of(lines).front());
    EXPECT_EQ(message["service"], word);
    EXPECT_EQ(message["place"]["position"], position);
    EXPECT_EQ(message.contains("number"), position == 0);
    EXPECT_EQ(message.value("number", 0), position == 0 ? 23 : 0);
  }
}

TEST(EventLines, AfterLeavingAGroupItHasNoDigest) {
  EventLines lines({.digest = true});
  lines.take(view("g", 1));
  lines.take(v0::Left{"g"});
  EXPECT_EQ(lines_of(lines).size(), 1U);
  lines.take(Message{{"g"}, "to another client's group"}.event());
  lines.finish();
  EXPECT_THAT(lines_of(lines), IsEmpty());
}

TEST(EventLines, JsonHasEverything) {
  EventLines lines({.views = true, .json = true});
  lines.take(view("g", 1));
  lines.take(Message{{"g", "h"}, "hello", 9}.event());
  lines.take(Message{{"#b#n2"}, std::string("\xff\0", 2), 9}.event());
  v0::Gap gap;
  gap.group = "g\xff";  // not valid UTF-8
  lines.take(gap);
  const auto out = lines_of(lines);
  ASSERT_EQ(out.size(), 4U);
  const Json joined = Json::parse(out[0]);
  EXPECT_EQ(joined["view"], view_id(1));
  EXPECT_EQ(joined["cause"], "join");
  EXPECT_EQ(joined["members"][1]["name"], "#b#n2");
  EXPECT_EQ(joined["members"][1]["came_with_us"], false);
  const Json message = Json::parse(out[1]);
  EXPECT_EQ(message["sender"], "#a#n1");
  EXPECT_EQ(message["targets"][1], "h");
  EXPECT_EQ(message["service"], "safe");
  EXPECT_EQ(message["place"]["position"], 9);
  EXPECT_EQ(message["text"], "hello");
  EXPECT_EQ(Json::parse(out[2])["hex"], "ff00");
  EXPECT_EQ(Json::parse(out[3])["event"], "gap");
}

TEST(EventLines, ShortNamesOfViews) {
  EXPECT_EQ(short_view(view_id(12)), "4@1/12");
  // The index of a view that only a part of the members has: the branch is the id of a node.
  EXPECT_EQ(short_view("4@1.9/" + std::to_string((std::uint64_t{2} << 40) + 3)), "4@1/2.3");
  for (const char* other : {"", "x", "4@1/7", "4@1.2", "1/2.3", "4@1.2/x", "4@1.2/"}) {
    EXPECT_EQ(short_view(other), other);
  }
}

}  // namespace
}  // namespace peal::cli
