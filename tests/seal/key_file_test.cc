// SPDX-License-Identifier: Apache-2.0
#include "seal/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "stations.h"
#include "temp_dir.h"

namespace peal::seal::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string line(std::uint8_t number, const std::string& use) {
  const Key key = test_key(number);
  return "key " + to_text(key.id) + " " + use + " " + key.created + " " + to_hex(key.secret.bytes) +
         "\n";
}

std::string error_of(const std::string& text) {
  const auto keys = parse_keys(text, "k");
  EXPECT_FALSE(keys) << text;
  return keys ? "" : keys.error();
}

TEST(KeyFile, WhatIsWrittenIsRead) {
  Keys keys = keys_of({0, 1, 2, 3});
  keys.sending = test_key(2).id;
  const std::string text = format_keys(keys);
  EXPECT_LT(text.size(), kKeyFileBytesMax);
  const auto read = parse_keys(text, "k");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->sending, keys.sending);
  ASSERT_EQ(read->all.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read->all[i].id, keys.all[i].id);
    EXPECT_EQ(read->all[i].created, keys.all[i].created);
    EXPECT_EQ(read->all[i].secret.bytes, keys.all[i].secret.bytes);
  }
  EXPECT_EQ(format_keys(*read), text);
  EXPECT_THAT(text, HasSubstr("peal keygen --remove ID"));
}

TEST(KeyFile, TakesCommentsBlanksAndNoLastNewline) {
  std::string text = "# x\n\n \t\n  # y\n" + line(0, "accept") + "\n\t" + line(1, "  send");
  text.pop_back();
  const auto keys = parse_keys(text, "k");
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_EQ(keys->sending, test_key(1).id);
}

TEST(KeyFile, SaysWhatIsWrongAndWhere) {
  const std::string good = line(0, "send");
  const std::string id = to_text(test_key(1).id);
  const std::string created = "2026-11-22T09:00:00Z";
  const std::string secret = to_hex(test_key(1).secret.bytes);
  const auto key = [](const std::string& a, const std::string& b, const std::string& c,
                      const std::string& d) {
    return "key " + a + " " + b + " " + c + " " + d + "\n";
  };
  const std::pair<std::string, std::string> rows[] = {
      {"", "k: has no key"},
      {"# only this\n", "peal keygen FILE"},
      {line(0, "accept"), "no key to send with"},
      {"kye\n", "k:1: \"kye\": accepted is a line that starts with key"},
      {good + "\nkey\n", "k:3: a key with 0 words: accepted is key ID USE CREATED SECRET"},
      {good + key(id, "send", created, secret + " x"), "k:2: a key with 5 words"},
      {key("12g45678", "send", created, secret), "k:1: ID = \"12g45678\": accepted are 8 of"},
      {key("1234567", "send", created, secret), "ID = \"1234567\""},
      {key(id, "sent", created, secret), "USE = \"sent\": accepted is send or accept"},
      {key(id, "send", "yesterday", secret), "CREATED = \"yesterday\": accepted is a time"},
      {key(id, "send", created, secret.substr(1)), "SECRET = a word of 63 characters"},
      {key(id, "send", created, secret + "0"), "SECRET = a word of 65 characters"},
      {key(id, "send", created, std::string(64, 'g')), "accepted are 64 of 0-9 and a-f"},
      {key(id, "send", created, std::string(64, '0')), "is not that key's"},
      {good + line(0, "accept"), "k:2: ID = " + to_text(test_key(0).id) + " is there twice"},
      {good + line(1, "send"), "USE = \"send\" is there twice"},
      {good + line(1, "accept") + line(2, "accept") + line(3, "accept") + line(4, "accept"),
       "k:5: ID = " + to_text(test_key(4).id) + " is one key too many: accepted are up to 4"},
      {good.substr(0, good.size() - 1) + "\r\n", "SECRET = a word of 65 characters"},
      {std::string(kKeyFileBytesMax + 1, '#'), "is longer than 16384 bytes"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(what);
    const std::string error = error_of(text);
    EXPECT_THAT(error, HasSubstr(what));
    EXPECT_THAT(error, Not(HasSubstr("\n")));
  }
}

TEST(KeyFile, ErrorsShowNoSecret) {
  const std::string secret = to_hex(test_key(1).secret.bytes);
  const std::string id = to_text(test_key(1).id);
  const std::string created = "2026-11-22T09:00:00Z";
  for (const std::string& text : {secret, "key " + secret + " send " + created + " " + id,
                                  "key " + id + " " + secret + " " + created + " send",
                                  "key " + id + " send " + secret + " " + created,
                                  "key " + id + " send " + created + " " + secret.substr(1)}) {
    EXPECT_THAT(error_of(text), Not(HasSubstr(secret.substr(1, 12))));
  }
}

TEST(KeyFile, TakesAnyBytes) {
  Random random(3);
  const std::string good = format_keys(keys_of({0, 1}));
  std::uint64_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      // Most changes are in the lines with keys, not in the comments.
      const std::uint64_t from = random.below(4) == 0 ? 0U : good.find("\nkey");
      text[from + random.below(text.size() - from)] = static_cast<char>(random.below(256));
    }
    if (random.below(4) == 0) text.resize(random.below(text.size()));
    const auto keys = parse_keys(text, "k");
    refused += keys ? 0U : 1U;
    if (!keys) continue;
    ASSERT_GE(keys->all.size(), 1U);
    ASSERT_NE(keys->find(keys->sending), nullptr);
    for (const Key& key : keys->all) ASSERT_EQ(key.id, key_id_of(key.secret));
  }
  EXPECT_GT(refused, 5'000U);
}

class KeyFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return dir_ / name; }
  static unsigned mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  TempDir dir_;
};

TEST_F(KeyFiles, AreMadeForTheirOwnerAlone) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(create_key_file(path("a"), keys_of({0})));
  EXPECT_EQ(mode_of(path("a")), 0600U);
  EXPECT_TRUE(replace_key_file(path("a"), keys_of({0, 1})));
  EXPECT_EQ(mode_of(path("a")), 0600U);
  ::umask(before);
  const auto keys = load_keys(path("a"));
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_EQ(keys->all.size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(path("a.new")));
}

TEST_F(KeyFiles, ThatOthersMayUseAreRefused) {
  ASSERT_TRUE(create_key_file(path("a"), keys_of({0})));
  for (const mode_t mode : {0640U, 0604U, 0660U, 0610U, 0602U, 0644U}) {
    ASSERT_EQ(::chmod(path("a").c_str(), mode), 0);
    const auto keys = load_keys(path("a"));
    ASSERT_FALSE(keys) << mode;
    EXPECT_THAT(keys.error(), HasSubstr("chmod 600 " + path("a")));
  }
  ASSERT_EQ(::chmod(path("a").c_str(), 0400), 0);
  EXPECT_TRUE(load_keys(path("a")));
}

TEST_F(KeyFiles, ThatAreThereAreNotOverwritten) {
  ASSERT_TRUE(create_key_file(path("a"), keys_of({0})));
  const auto again = create_key_file(path("a"), keys_of({1}));
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error(), HasSubstr("is there already, and was not changed"));
  EXPECT_EQ(load_keys(path("a"))->sending, test_key(0).id);
}

TEST_F(KeyFiles, ThatCannotBeReadOrWrittenAreNamed) {
  EXPECT_THAT(load_keys(path("none")).error(), HasSubstr(path("none")));
  EXPECT_THAT(load_keys(dir_.path()).error(), HasSubstr("is no file"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(load_keys(path("pipe")).error(), HasSubstr("is no file"));
  EXPECT_THAT(create_key_file(path("no/folder"), keys_of({0})).error(), HasSubstr("no/folder"));
  EXPECT_THAT(replace_key_file(path("none"), keys_of({0})).error(), HasSubstr(path("none")));
  ASSERT_TRUE(create_key_file(path("a"), keys_of({0})));
  ASSERT_TRUE(create_key_file(path("a.new"), keys_of({0})));
  EXPECT_THAT(replace_key_file(path("a"), keys_of({1})).error(), HasSubstr("a.new"));
  EXPECT_EQ(load_keys(path("a"))->sending, test_key(0).id);
}

TEST_F(KeyFiles, ThatAreTooLongAreNotReadWhole) {
  {
    std::ofstream out(path("a"));
    out << std::string(kKeyFileBytesMax + 1, '#');
  }
  ASSERT_EQ(::chmod(path("a").c_str(), 0600), 0);
  EXPECT_THAT(load_keys(path("a")).error(), HasSubstr("is longer than"));
}

}  // namespace
}  // namespace peal::seal::test
