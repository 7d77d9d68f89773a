// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "site.h"

// Groups of two domains, with genuine multicast: nodes n1 and n2 are of the domain east, n3 of
// west, and n4 of none.

namespace peal::daemon::test {
namespace {

using testing::HasSubstr;
using wire::ClientCode;
using wire::RecordKind;

Options in_domains(const Folder& folder, std::uint32_t self) {
  Options options = options_of(folder, self, 4);
  options.member.order = order::find_engine("ramcast");
  options.member.options = {};
  options.member.options.set("ramcast.suspect_ms", seconds(3).ns);
  options.member.domains = {{"east", {NodeId{1}, NodeId{2}}, {}, {"east-*"}},
                            {"west", {NodeId{3}}, {}, {"news"}}};
  return options;
}

class DaemonDomains : public testing::Test {
 protected:
  DaemonDomains() {
    for (std::uint32_t node = 1; node <= 4; ++node) {
      sites.push_back(std::make_unique<Site>(in_domains(folder, node)));
    }
  }

  const std::string& at(std::uint32_t node) const { return sites[node - 1]->socket(); }

  Folder folder;
  std::vector<std::unique_ptr<Site>> sites;
};

void send(Client& client, std::uint64_t number, std::initializer_list<std::string_view> targets,
          std::string_view text) {
  wire::SendRequest request;
  request.number = number;
  for (const std::string_view target : targets) request.targets.push_back(target);
  request.payload = as_bytes_view(text);
  client.say(request);
}

/// A place in the order of all domains: the position, and the index in it.
using Place = std::pair<std::uint64_t, std::uint32_t>;

/// The place of the next message, whose text must be `text`.
Place place_of(Client& client, std::string_view text) {
  const auto got = client.until(RecordKind::message);
  if (!got || got->kind != RecordKind::message) {
    ADD_FAILURE() << "no message came";
    return {};
  }
  const auto message = got->as<wire::MessageEvent>();
  EXPECT_EQ(as_text(message.payload), text);
  return {message.place.position, message.place.index};
}

TEST_F(DaemonDomains, AMessageToGroupsOfTwoDomainsHasOnePlaceInBoth) {
  Client ann(at(1), hello_as("ann")), bob(at(2), hello_as("bob")), cid(at(3), hello_as("cid")),
      dan(at(4), hello_as("dan"));
  ann.join("east-a");
  bob.join("east-a");
  cid.join("news");
  send(dan, 1, {"east-a", "news"}, "both");
  send(dan, 2, {"#bob#n2", "#cid#n3"}, "two clients");
  const Place place = place_of(ann, "both");
  EXPECT_GT(place, Place());
  EXPECT_EQ(place_of(bob, "both"), place);
  EXPECT_EQ(place_of(cid, "both"), place);
  const Place second = place_of(bob, "two clients");
  EXPECT_GT(second, place);
  EXPECT_EQ(place_of(cid, "two clients"), second);
  std::uint64_t acked = 0;
  while (acked < 2) {
    const auto got = dan.until(RecordKind::acked);
    ASSERT_TRUE(got && got->kind == RecordKind::acked);
    acked = got->as<wire::Acked>().number;
  }
  EXPECT_EQ(acked, 2U);
}

TEST_F(DaemonDomains, GroupsOfOtherDomainsAndOfNoneAreRefused) {
  Client ann(at(1), hello_as("ann"));
  const auto refused_join = [&ann](std::string_view group) {
    wire::JoinRequest join;
    join.request = 1;
    join.group = group;
    ann.say(join);
    const auto got = ann.until(RecordKind::reply);
    const auto reply = got->as<wire::Reply>();
    EXPECT_EQ(reply.code, ClientCode::not_permitted);
    return std::string(reply.text);
  };
  EXPECT_THAT(refused_join("news"),
              HasSubstr("'news' is a group of the domain 'west', which this node is not in: join "
                        "at a node of the domain (n3)"));
  EXPECT_THAT(refused_join("gossip"), HasSubstr("'gossip' is a group of no domain"));
  send(ann, 1, {"east-a", "gossip"}, "nowhere");
  const auto got = ann.until(RecordKind::refused);
  const auto refused = got->as<wire::Refused>();
  EXPECT_EQ(refused.code, ClientCode::not_permitted);
  EXPECT_THAT(std::string(refused.text), HasSubstr("'gossip' is a group of no domain"));
  send(ann, 2, {"#dan#n4"}, "nobody");
  const auto next = ann.until(RecordKind::refused);
  EXPECT_THAT(std::string(next->as<wire::Refused>().text),
              HasSubstr("'#dan#n4' names no node of a domain"));
}

TEST_F(DaemonDomains, TheMembersOfAGroupAreThoseOfItsDomain) {
  Client ann(at(1), hello_as("ann")), bob(at(2), hello_as("bob"));
  ann.join("east-a");
  bob.join("east-a");
  const auto got = ann.until(RecordKind::group_view);
  ASSERT_TRUE(got && got->kind == RecordKind::group_view);
  const auto view = got->as<wire::GroupViewEvent>();
  ASSERT_EQ(view.members.size(), 2U);
  EXPECT_EQ(view.members[0].name, "#ann#n1");
  EXPECT_EQ(view.members[1].name, "#bob#n2");
  bob.say(RecordKind::goodbye);
  const auto last = ann.until(RecordKind::group_view);
  EXPECT_EQ(last->as<wire::GroupViewEvent>().members.size(), 1U);
}

}  // namespace
}  // namespace peal::daemon::test
