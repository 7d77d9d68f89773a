// SPDX-License-Identifier: Apache-2.0
// `peal keygen` from the command line.
#include <sys/stat.h>

#include "tool.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class Keygen : public Tool {
 protected:
  /// The ids of the keys in $DIR/k, as --list prints them. The key for sending has " send" behind
  /// its id.
  std::vector<std::string> keys() const {
    const Ran listed = run("peal keygen --list $DIR/k");
    EXPECT_EQ(listed.status, 0) << listed.err;
    std::vector<std::string> ids;
    std::istringstream in(listed.out);
    std::string key, id, use, created;
    while (in >> key >> id >> use >> created) ids.push_back(use == "send" ? id + " send" : id);
    return ids;
  }
  std::string file() const { return content(dir_ + "/k"); }
};

TEST_F(Keygen, MakesAFileForItsOwnerAlone) {
  const Ran made = run("umask 0; peal keygen $DIR/k");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("bring this file to every node"));
  struct stat status {};
  ASSERT_EQ(::stat((dir_ + "/k").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_THAT(file(), HasSubstr("in three steps"));
  ASSERT_EQ(keys().size(), 1U);
  EXPECT_THAT(keys()[0], MatchesRegex("[0-9a-f]{8} send"));
  EXPECT_EQ(run("peal keygen $DIR/other").status, 0);
  EXPECT_NE(content(dir_ + "/other"), file()) << "another file, another key";
}

TEST_F(Keygen, DoesNotOverwrite) {
  ASSERT_EQ(run("peal keygen $DIR/k").status, 0);
  const std::string before = file();
  const Ran again = run("peal keygen $DIR/k");
  expect_refused(again.status, again.err, "is there already");
  EXPECT_THAT(again.err, HasSubstr("keygen --add"));
  EXPECT_EQ(file(), before);
}

TEST_F(Keygen, ChangesAKeyInThreeSteps) {
  ASSERT_EQ(run("peal keygen $DIR/k").status, 0);
  const std::string old_id = keys()[0].substr(0, 8);
  const Ran added = run("peal keygen --add $DIR/k");
  EXPECT_EQ(added.status, 0) << added.err;
  ASSERT_EQ(keys().size(), 2U);
  EXPECT_EQ(keys()[0], old_id + " send");
  const std::string new_id = keys()[1];
  EXPECT_THAT(added.out, HasSubstr("peal keygen --use " + new_id));

  const Ran early = run("peal keygen --remove " + old_id + " $DIR/k");
  expect_refused(early.status, early.err, "is the key to send with: first --use another");
  const Ran used = run("peal keygen --use " + new_id + " $DIR/k");
  EXPECT_EQ(used.status, 0) << used.err;
  EXPECT_THAT(used.out, HasSubstr("peal keygen --remove " + old_id));
  EXPECT_THAT(keys(), testing::ElementsAre(old_id, new_id + " send"));

  EXPECT_EQ(run("peal keygen --remove " + old_id + " $DIR/k").status, 0);
  EXPECT_THAT(keys(), testing::ElementsAre(new_id + " send"));
  struct stat status {};
  ASSERT_EQ(::stat((dir_ + "/k").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(Keygen, RefusesWithOneLineAndChangesNothing) {
  ASSERT_EQ(run("peal keygen $DIR/k && peal keygen --add $DIR/k && peal keygen --add $DIR/k && "
                "peal keygen --add $DIR/k && cp $DIR/k $DIR/open && chmod 644 $DIR/open")
                .status,
            0);
  write("broken", "key\n");
  const std::string before = file();
  const std::pair<const char*, const char*> rows[] = {
      {"peal keygen", "FILE is missing: accepted is one key file"},
      {"peal keygen $DIR/a $DIR/b", "is too much: accepted is one key file"},
      {"peal keygen ''", "accepted is one key file"},
      {"peal keygen --add --list $DIR/k", "accepted is one at a time"},
      {"peal keygen --use 12345678 --remove 12345678 $DIR/k", "accepted is one at a time"},
      {"peal keygen --use 1234 $DIR/k", "--use = \"1234\": accepted is the id of a key"},
      {"peal keygen --use $DIR/k", "accepted is the id of a key"},
      {"peal keygen --use 00000000 $DIR/k", "--use = \"00000000\": accepted are "},
      {"peal keygen --remove 00000000 $DIR/k", "--remove = \"00000000\": accepted are "},
      {"peal keygen --add $DIR/k", "has 4 keys, and more are not accepted"},
      {"peal keygen --list $DIR/open", "chmod 600 "},
      {"peal keygen --add $DIR/none", "none\": cannot be read"},
      {"chmod 600 $DIR/broken; peal keygen --add $DIR/broken", "broken:1: a key with 0 words"},
      {"peal keygen /nonexistent/k", "/nonexistent/k\": cannot be made"},
      {"peal keygen --ad $DIR/k", "did you mean --add?"},
  };
  for (const auto& [command, what] : rows) {
    SCOPED_TRACE(command);
    const Ran ran = run(command);
    expect_refused(ran.status, ran.err, what);
    EXPECT_EQ(ran.out, "");
  }
  EXPECT_EQ(file(), before);
}

TEST_F(Keygen, ListsWithoutSecretsAndHelpTeaches) {
  ASSERT_EQ(run("peal keygen $DIR/k").status, 0);
  const std::string text = file();
  const std::string secret = text.substr(text.size() - 65, 64);
  EXPECT_THAT(secret, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_THAT(run("peal keygen --list $DIR/k").out, Not(HasSubstr(secret.substr(0, 8))));
  const Ran help = run("peal keygen --help");
  EXPECT_EQ(help.status, 0);
  for (const char* what : {"--add", "--use", "--remove", "--list", "three steps", "Examples:"}) {
    EXPECT_THAT(help.out, HasSubstr(what));
  }
}

}  // namespace
}  // namespace peal::cli
