// SPDX-License-Identifier: Apache-2.0
#include "config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace peal::config {
namespace {

using testing::HasSubstr;

TEST(Schema, EachKeyIsThereOnceAndSaysWhatItIs) {
  std::set<std::string> paths;
  for (const Key<Settings>& key : keys()) {
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    EXPECT_FALSE(key.accepted.empty() || key.help.empty()) << key.path();
    EXPECT_NE(key.normal.empty(), key.example.empty()) << key.path();
    EXPECT_EQ(find_key(key.path()), &key);
  }
  EXPECT_EQ(find_key("ring.speed"), nullptr);
}

// The default value that a key documents is the key's initial value in Settings.
TEST(Schema, DefaultsAreThoseOfTheSettings) {
  const Settings normal;
  for (const Key<Settings>& key : keys()) {
    const std::string text = key.get(normal);
    EXPECT_TRUE(text.empty() || text == key.normal) << key.path() << " " << text;
  }
}

TEST(Schema, HasTheOptionsOfEveryEngineThatUsersChoose) {
  for (const order::Descriptor* engine : order::engines()) {
    for (const order::Option& option : engine->options()) {
      const Key<Settings>* key = find_key(option.key);
      ASSERT_EQ(key == nullptr, option.internal) << option.key;
      EXPECT_TRUE(key == nullptr || is_of(*key, engine)) << option.key;
    }
  }
}

TEST(Schema, SaysWhatIsWrong) {
  Settings settings;
  const auto error = [&](std::string_view path, const Value& value) {
    const auto done = set(settings, path, value);
    return done ? "" : done.error();
  };
  EXPECT_EQ(error("ring.max_gap", std::int64_t{20}), "");
  EXPECT_EQ(settings.options.get("ring.max_gap"), 20);
  EXPECT_EQ(error("ring.max_gap", std::int64_t{3}),
            "ring.max_gap = 3: accepted is a whole number from 16 to 8192");
  EXPECT_EQ(settings.options.get("ring.max_gap"), 20) << "nothing has changed";
  EXPECT_THAT(
      error("ring.max_gab", std::int64_t{3}),
      HasSubstr("unknown key ring.max_gab = 3: did you mean ring.max_gap? accepted keys are "));
  EXPECT_THAT(error("ordr", std::string("ring")), HasSubstr("did you mean order?"));
  EXPECT_EQ(
      error("order", std::string("raft")),
      "order = \"raft\": accepted is \"ring\", \"paxos\", \"ridge\", \"toto\" or \"ramcast\"");
}

Settings of_engine(std::string_view name) {
  Settings settings;
  settings.order = order::find_engine(name);
  return settings;
}

// A key of another engine would have no effect, so a configuration with this key is refused.
TEST(Schema, AKeyOfAnotherEngineIsRefusedWithBothNames) {
  Settings ring = of_engine("ring");
  ring.options.set("ridge.ensembles", 1);
  EXPECT_TRUE(validate_engines(ring)) << "the default changes nothing";
  ring.options.set("ridge.ensembles", 2);
  EXPECT_EQ(validate_engines(ring).error(),
            "ridge.ensembles = 2 does not go with order = \"ring\", the default: leave it out, or "
            "set order = \"ridge\"");
  Settings paxos = of_engine("paxos");
  paxos.options.set("primary", 0);
  EXPECT_EQ(validate_engines(paxos).error(),
            "primary = \"none\" does not go with order = \"paxos\": leave it out, as every view "
            "is primary, or set order = \"ring\" or \"toto\"");
  for (const order::Descriptor* engine : order::engines()) {
    for (const Key<Settings>& key : keys()) {
      if (key.example.empty() || is_of(key, engine)) continue;
      Settings other = of_engine(engine->name);
      other.data_dir = key.path() == "data_dir" ? "d" : "";
      if (key.path() == acceptors_key()) other.acceptors = {NodeId{1}};
      ASSERT_FALSE(validate_engines(other)) << key.path();
      EXPECT_THAT(validate_engines(other).error(), HasSubstr(key.path() + " = "));
    }
  }
}

}  // namespace
}  // namespace peal::config
