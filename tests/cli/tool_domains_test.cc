// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tool.h"

// A cluster of `peal up` whose nodes are divided into domains. Each domain has one node here, which
// nobody can take for dead on a busy machine.

namespace peal::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::json;

class ToolDomains : public Tool {
 protected:
  void up_with_two() {
    up({"--order", "ramcast", "--nodes", "2", "--domains", "2"});
    wait_for("members=1");
  }
  /// Joins groups at a node, and waits until the client is a member of the last one.
  void receive(const std::string& node, const std::vector<std::string>& groups,
               const std::string& count) {
    std::vector<std::string> arguments = {
        "recv", "--to", dir_ + "/" + node + ".sock", "--name", node, "--views", "--count", count};
    for (const std::string& group : groups) arguments.insert(arguments.end(), {"--group", group});
    start(arguments, node + ".received");
    ASSERT_EQ(run("timeout 20 tail -n +1 -F $DIR/" + node +
                  ".received | grep -q -m 1 'group=" + groups.back() + " '")
                  .status,
              0);
  }
};

TEST_F(ToolDomains, UpSaysWhichGroupsEachHasAndHowToSendToBoth) {
  up_with_two();
  const std::string said = content(dir_ + "/up.out");
  EXPECT_THAT(said,
              HasSubstr("\nDomain d1 has the nodes n1 and all groups that no other domain has\n"
                        "Domain d2 has the nodes n2 and the groups whose names begin with d2\n"));
  EXPECT_THAT(said, HasSubstr("  peal recv --views --to " + dir_ + "/n2.sock --group d2-all "));
  EXPECT_THAT(said,
              HasSubstr("  seq 1000 | peal send --to " + dir_ + " --group all --group d2-all "));

  receive("n1", {"all"}, "2");
  receive("n2", {"d2-all"}, "2");
  const Ran sent =
      run("echo both | peal send --to $DIR --group all --group d2-all &&"
          "echo one | peal send --to $DIR/n2.sock --group all &&"
          "echo other | peal send --to $DIR/n1.sock --group d2-all");
  EXPECT_EQ(sent.status, 0) << sent.err;
  for (Child* each : {&children_[1], &children_[2]}) {
    each->wait();
    EXPECT_EQ(each->status(), 0);
  }
  EXPECT_EQ(run("grep -v '^# ' $DIR/n1.received").out, "both\none\n");
  EXPECT_EQ(run("grep -v '^# ' $DIR/n2.received").out, "both\nother\n");
}

TEST_F(ToolDomains, AGroupOfAnotherDomainNamesItsNodes) {
  up_with_two();
  const Ran refused = run("peal recv --to $DIR/n1.sock --group d2-all");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("'d2-all' is a group of the domain 'd2', which this node is not "
                        "in: join at a node of the domain (n2)"));
}

TEST_F(ToolDomains, StatusHasTheDomainOfEachGroup) {
  up_with_two();
  receive("n2", {"d2-all"}, "1");
  const Ran text = run("peal status --to $DIR");
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("n1 order=ramcast domains=d1 leader=n1 round=1 memory=shm"),
                              HasSubstr("n2 order=ramcast domains=d2 leader=n2 round=1 memory=shm"),
                              HasSubstr("\ndomain=d1 nodes=n1 groups=\"*\"\n"
                                        "domain=d2 nodes=n2 groups=\"d2*\"\n")));
  const Json answer = Json::parse(run("peal status --to $DIR/n2.sock --json --clients '#n2'").out);
  EXPECT_EQ(answer[0]["domains"], Json({"d2"}));
  EXPECT_EQ(answer[0]["all_domains"][0]["nodes"], Json({"n1"}));
  EXPECT_EQ(answer[0]["all_domains"][1]["groups"], Json({"d2*"}));
  const Json& groups = answer[0]["clients"]["sessions"][0]["groups"];
  ASSERT_EQ(groups.size(), 2U) << groups;  // one for its private name
  EXPECT_EQ(groups[1]["group"], "d2-all");
  EXPECT_EQ(groups[1]["domain"], "d2");
  EXPECT_FALSE(groups[0].contains("domain"));
  EXPECT_EQ(run("echo end | peal send --to $DIR --group d2-all").status, 0);
  children_.back().wait();
}

TEST_F(ToolDomains, ALineThatFitsNoPacketIsRefusedAndTheOnesBeforeItAreDelivered) {
  up_with_two();
  const Ran sent =
      run("(echo before; head -c 40000 /dev/zero | tr '\\0' x; echo; echo after) | "
          "peal send --to $DIR/n1.sock");
  EXPECT_EQ(sent.status, 1);
  EXPECT_THAT(sent.err,
              HasSubstr("standard input:2: the line is too long for one message: accepted "
                        "are up to 25158 bytes, which follows from "
                        "limits.message_bytes_max, or where each message fits into one "
                        "packet from network.packet_bytes; 1 of 1 messages were "
                        "delivered in order"));
}

}  // namespace
}  // namespace peal::cli
