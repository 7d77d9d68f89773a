// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "seal/random.h"
#include "site.h"

// Clients of one daemon and of two daemons, from hello to message. Sessions that continue on a new
// connection. The end of a daemon.

namespace peal::daemon::test {
namespace {

using testing::HasSubstr;
using wire::ClientCode;
using wire::RecordKind;

TEST(Clients, OfOneDaemonSeeTheSameOrder) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  Client bob(site.socket(), hello_as("bob"));
  ASSERT_TRUE(ann.is_welcome() && bob.is_welcome());
  EXPECT_EQ(ann.welcome().name, "#ann#n1");
  EXPECT_EQ(ann.welcome().node, "n1");
  ann.join("g");
  bob.join("g");
  for (int i = 0; i < 100; ++i) {
    ann.send("g", "a" + std::to_string(i));
    bob.send("g", "b" + std::to_string(i));
  }
  std::vector<std::string> seen_by_ann, seen_by_bob;
  for (int i = 0; i < 200; ++i) {
    seen_by_ann.push_back(ann.message());
    seen_by_bob.push_back(bob.message());
  }
  EXPECT_EQ(seen_by_ann, seen_by_bob);
  EXPECT_EQ(std::count(seen_by_ann.begin(), seen_by_ann.end(), "a99"), 1);
}

TEST(Clients, OfTwoDaemonsSeeTheSameOrder) {
  Folder folder;
  Site first(options_of(folder, 1, 2));
  Site second(options_of(folder, 2, 2));
  Client ann(first.socket(), hello_as("ann"));
  Client bob(second.socket(), hello_as("bob"));
  ASSERT_TRUE(ann.is_welcome() && bob.is_welcome());
  ann.join("g");
  bob.join("g");
  // Waits until ann sees a view with both clients.
  while (const auto got = ann.until(RecordKind::group_view)) {
    ASSERT_EQ(got->kind, RecordKind::group_view);
    if (got->as<wire::GroupViewEvent>().members.size() == 2) break;
  }
  for (int i = 0; i < 50; ++i) {
    ann.send("g", "a" + std::to_string(i));
    bob.send("g", "b" + std::to_string(i));
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ann.message(), bob.message());
}

TEST(Clients, WhatIsSentIsSettled) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  for (int i = 0; i < 1'000; ++i) ann.send("nobody-listens", std::string(2'000, 'x'));
  std::uint64_t acked = 0;
  while (acked < 1'000) {
    const auto got = ann.until(RecordKind::acked);
    ASSERT_TRUE(got && got->kind == RecordKind::acked);
    acked = got->as<wire::Acked>().number;
  }
  EXPECT_EQ(acked, 1'000U);
}

// The packet fits an Ethernet frame, although its header has the names of the sender and the group.
TEST(Clients, AMessageOf1350BytesIsOneSealedPacketIfNamesAreShort) {
  Folder folder;
  Options options = options_of(folder, 1, 1);
  options.member.insecure = false;
  options.member.keys.emplace();
  options.member.keys->all.push_back(seal::make_key(seal::random_secret(), "2026-11-22T09:00:00Z"));
  options.member.keys->sending = options.member.keys->all.front().id;
  Site site(options);
  Client ann(site.socket(), hello_as("ann"));
  const std::string group(14, 'g');  // 17 bytes together with "ann"
  ann.join(group);
  const auto parts = [&] {
    Client asker(site.socket(), hello_as("asker"));
    wire::AskRequest ask;
    ask.request = 1;
    ask.what = "parts";
    asker.say(ask);
    const auto got = asker.until(RecordKind::reply);
    return got ? std::string(got->as<wire::Reply>().text) : "";
  };
  const std::string text(1'350, 'x');
  for (int i = 0; i < 20; ++i) ann.send(group, text);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ann.message(), text);
  EXPECT_EQ(parts(), "0");
  ann.send(group, text + "y");
  EXPECT_EQ(ann.message(), text + "y");
  EXPECT_EQ(parts(), "2");
}

TEST(Clients, AMessageToAPrivateNameGoesToOne) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  Client bob(site.socket(), hello_as("bob"));
  Client eve(site.socket(), hello_as("eve"));
  ann.send("#bob#n1", "for bob");
  ann.send("#eve#n1", "for eve");
  EXPECT_EQ(bob.message(), "for bob");
  EXPECT_EQ(eve.message(), "for eve");
}

TEST(Clients, ASessionOutlivesItsConnection) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client bob(site.socket(), hello_as("bob"));
  wire::Hello hello = hello_as("ann");
  hello.keep_ms = 30'000;
  auto ann = std::make_unique<Client>(site.socket(), hello);
  ann->join("g");
  bob.send("g", "1");
  EXPECT_EQ(ann->message(), "1");
  hello.session = ann->welcome().session;
  // ann has seen 2 events, the view and the message. The daemon must not send them again.
  hello.events_seen = ann->welcome().events_next - 1 + 2;
  ann->cut();
  bob.send("g", "2");
  bob.send("g", "3");
  Client again(site.socket(), hello);
  ASSERT_TRUE(again.is_welcome());
  EXPECT_TRUE(again.welcome().resumed);
  EXPECT_EQ(again.message(), "2");
  EXPECT_EQ(again.message(), "3");
}

TEST(Clients, WhoLeavesIsGoneForTheOthers) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  Client bob(site.socket(), hello_as("bob"));
  ann.join("g");
  bob.join("g");
  bob.say(RecordKind::goodbye);
  EXPECT_EQ(bob.closing().first, ClientCode::goodbye);
  EXPECT_EQ(bob.next(), std::nullopt);
  while (const auto got = ann.until(RecordKind::group_view)) {
    ASSERT_EQ(got->kind, RecordKind::group_view);
    const auto view = got->as<wire::GroupViewEvent>();
    if (view.cause != wire::ViewCause::disconnect) continue;
    EXPECT_EQ(view.changed, "#bob#n1");
    EXPECT_EQ(view.members.size(), 1U);
    break;
  }
}

TEST(Daemon, TellsItsClientsThatItStops) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  ann.join("g");
  site.stop();
  EXPECT_EQ(ann.closing().first, ClientCode::shutdown);
  EXPECT_EQ(ann.next(), std::nullopt);
  EXPECT_TRUE(site.ended_well());
  EXPECT_FALSE(std::filesystem::exists(site.socket()));
}

TEST(Daemon, AnswersQuestions) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  Client ann(site.socket(), hello_as("ann"));
  wire::AskRequest ask;
  ask.request = 7;
  ask.what = "sessions";
  ann.say(ask);
  const auto got = ann.until(RecordKind::reply);
  ASSERT_TRUE(got);
  const auto reply = got->as<wire::Reply>();
  EXPECT_EQ(reply.request, 7U);
  EXPECT_EQ(reply.code, ClientCode::ok);
  EXPECT_EQ(reply.text, "1");
}

TEST(Daemon, ItsSocketIsItsOwners) {
  Folder folder;
  Site site(options_of(folder, 1, 1));
  struct stat status {};
  ASSERT_EQ(::stat(site.socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(Daemon, SaysWhatItCannotUse) {
  Folder folder;
  Site running(options_of(folder, 1, 1));
  NoOwner owner;
  const auto error_of = [&](const Options& options) {
    const auto opened = Daemon::open(options, owner);
    return opened ? "it was opened" : opened.error().message;
  };
  Options options = options_of(folder, 1, 1);
  EXPECT_THAT(error_of(options), HasSubstr(options.socket));  // `running` uses this socket
  options = options_of(folder, 2, 2);
  options.spool_dir = folder.path() + "/none";
  EXPECT_THAT(error_of(options), HasSubstr("clients.spool_dir = \"" + options.spool_dir));
  options = options_of(folder, 2, 2);
  options.socket = folder.path() + "/none/n2.sock/";
  EXPECT_THAT(error_of(options), HasSubstr("socket: "));
  options = options_of(folder, 2, 2);
  options.member.name = "n9";
  EXPECT_THAT(error_of(options), HasSubstr("n9"));
  options = options_of(folder, 2, 2);
  options.tls.emplace();
  options.tls->at = io::Endpoint::v4(127, 0, 0, 1, 0);
  options.tls->tls.certificate = folder.path() + "/none.crt";
  options.tls->tls.key = folder.path() + "/none.key";
  EXPECT_THAT(error_of(options), HasSubstr("none.crt"));
}

TEST(Daemon, NewRulesHoldAtOnce) {
  Folder folder;
  Options options = options_of(folder, 1, 1);
  Site site(options);
  Client ann(site.socket(), hello_as("ann"));
  ASSERT_TRUE(ann.is_welcome());
  options.sessions.clients[0].names = "b*";
  options.socket_mode = 0666;
  ASSERT_TRUE(site.reconfigure(options));
  EXPECT_EQ(ann.closing().first, ClientCode::not_permitted);
  Client again(site.socket(), hello_as("ann"));
  EXPECT_FALSE(again.is_welcome());
  Client bob(site.socket(), hello_as("bob"));
  EXPECT_TRUE(bob.is_welcome());
  struct stat status {};
  ASSERT_EQ(::stat(site.socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
}

TEST(Daemon, SilentConnectionsKeepNobodyOut) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8'192);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_cur, 2'500U) << "1,000 connections and their other ends need descriptors";
  Folder folder;
  Site site(options_of(folder, 1, 1));
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 1'000; ++i) silent.push_back(std::make_unique<Client>(site.socket()));
  Client ann(site.socket(), hello_as("ann"));
  ASSERT_TRUE(ann.is_welcome());
  ann.join("g");
  ann.send("g", "here");
  EXPECT_EQ(ann.message(), "here");
}

}  // namespace
}  // namespace peal::daemon::test
