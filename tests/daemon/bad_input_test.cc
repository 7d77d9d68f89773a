// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site.h"

// A client that sends invalid records gets an error that names the reason. Other clients are not
// affected.

namespace peal::daemon::test {
namespace {

using wire::ClientCode;
using wire::RecordKind;

/// A daemon with two good clients, which must still exchange messages after each test.
class BadInput : public testing::Test {
 protected:
  static Options options(const Folder& folder) {
    Options options = options_of(folder, 1, 1);
    options.member.limits.message_bytes_max = 100'000;
    options.sessions.hello_patience = milliseconds(500);
    session::ClientRule slow = options.sessions.clients[0];
    slow.names = "quota-*";
    slow.bytes_per_second = 1'000;
    session::ClientRule one;
    one.names = "one";
    one.groups_max = 1;
    options.sessions.clients[0].names = "*";
    options.sessions.clients.insert(options.sessions.clients.begin(), {slow, one});
    options.sessions.groups.insert(options.sessions.groups.begin(), {{}, "secret-*", false, false});
    return options;
  }

  void SetUp() override {
    good_.join("g");
    other_.join("g");
  }
  void TearDown() override {
    good_.send("g", "still here");
    EXPECT_EQ(good_.message(), "still here");
    EXPECT_EQ(other_.message(), "still here");
  }

  std::unique_ptr<Client> bad(std::string_view name) {
    auto client = std::make_unique<Client>(site_.socket(), hello_as(name));
    EXPECT_TRUE(client->is_welcome());
    return client;
  }
  static wire::Refused refused(Client& client) {
    static Got kept;
    const auto got = client.until(RecordKind::refused);
    EXPECT_TRUE(got && got->kind == RecordKind::refused) << "it was not refused";
    if (got) kept = *got;
    return kept.kind == RecordKind::refused ? kept.as<wire::Refused>() : wire::Refused{};
  }

  Folder folder_;
  Site site_{options(folder_)};
  Client good_{site_.socket(), hello_as("good")};
  Client other_{site_.socket(), hello_as("other")};
};

std::vector<std::byte> text_bytes(std::string_view text) {
  const ByteView view = as_bytes_view(text);
  return {view.begin(), view.end()};
}

std::vector<std::byte> hello_bytes() {
  std::vector<std::byte> bytes;
  wire::append(bytes, hello_as("bad"));
  return bytes;
}

TEST_F(BadInput, BytesThatAreNoHello) {
  auto wrong_version = hello_as("bad");
  wrong_version.version = 77;
  std::vector<std::byte> version, ping;
  wire::append(version, wrong_version);
  wire::append(ping, RecordKind::ping, wire::Acked{1});
  auto twice = hello_bytes();
  const auto second = hello_bytes();
  twice.insert(twice.end(), second.begin(), second.end());
  auto cut_short = hello_bytes();
  cut_short[0] = static_cast<std::byte>(static_cast<int>(cut_short[0]) - 1);
  const std::vector<std::byte> cases[] = {
      text_bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
      std::vector<std::byte>(5, std::byte{0}),
      std::vector<std::byte>(5, std::byte{0xff}),
      std::vector<std::byte>(100'000, std::byte{0x41}),
      version,
      ping,
      twice,
      cut_short,
  };
  for (const auto& bytes : cases) {
    Client client(site_.socket());
    client.write(bytes);
    const auto [code, text] = client.closing();
    EXPECT_TRUE(code == ClientCode::bad_record || code == ClientCode::bad_version)
        << wire::client_code_name(code) << " " << text;
    EXPECT_NE(text, "");
    EXPECT_EQ(client.next(), std::nullopt);
  }
}

TEST_F(BadInput, WhoSaysNothingHasToGo) {
  Client client(site_.socket());
  const auto [code, text] = client.closing();
  EXPECT_EQ(code, ClientCode::silent);
  EXPECT_NE(text, "");
}

TEST_F(BadInput, AForeignName) {
  Client twin(site_.socket(), hello_as("good"));
  EXPECT_FALSE(twin.is_welcome());
  for (const std::string& name : {std::string("a#b"), std::string("a\nb"), std::string(33, 'x')}) {
    Client client(site_.socket());
    client.say(hello_as(name));
    const auto [code, text] = client.closing();
    EXPECT_EQ(code, ClientCode::bad_name) << text;
  }
  wire::Hello stolen = hello_as("thief");
  stolen.session.fill(std::byte{7});
  Client thief(site_.socket());
  thief.say(stolen);
  EXPECT_EQ(thief.closing().first, ClientCode::session_lost);
}

TEST_F(BadInput, AMessageThatIsTooLarge) {
  auto client = bad("large");
  client->send("g", std::string(client->welcome().message_bytes_max + 1, 'x'));
  const auto got = client->next();
  ASSERT_TRUE(got);
  // The daemon may refuse the message or end the connection. Both records name a reason.
  if (got->kind == RecordKind::refused) {
    EXPECT_EQ(got->as<wire::Refused>().code, ClientCode::too_large);
  } else {
    ASSERT_EQ(got->kind, RecordKind::closing);
    EXPECT_NE(got->as<wire::Closing>().text, "");
  }
}

TEST_F(BadInput, WithoutTheRight) {
  auto client = bad("curious");
  client->send("secret-plans", "x");
  EXPECT_EQ(refused(*client).code, ClientCode::not_permitted);
  wire::JoinRequest join;
  join.request = 5;
  join.group = "secret-plans";
  client->say(join);
  const auto got = client->until(RecordKind::reply);
  ASSERT_TRUE(got && got->kind == RecordKind::reply);
  EXPECT_EQ(got->as<wire::Reply>().code, ClientCode::not_permitted);
  EXPECT_NE(got->as<wire::Reply>().text, "");
}

TEST_F(BadInput, OverItsQuota) {
  auto client = bad("quota-1");
  for (int i = 0; i < 20; ++i) client->send("g2", std::string(10'000, 'x'));
  const wire::Refused answer = refused(*client);
  EXPECT_EQ(answer.code, ClientCode::over_quota);
  EXPECT_NE(answer.text, "");
}

TEST_F(BadInput, TooManyGroups) {
  auto client = bad("one");
  client->join("first");
  wire::JoinRequest join;
  join.group = "second";
  join.request = 9;
  client->say(join);
  const auto got = client->until(RecordKind::reply);
  ASSERT_TRUE(got && got->kind == RecordKind::reply);
  EXPECT_EQ(got->as<wire::Reply>().code, ClientCode::too_many);
  EXPECT_NE(got->as<wire::Reply>().text, "");
}

TEST_F(BadInput, TenThousandGroups) {
  auto client = bad("many");
  for (std::uint32_t i = 1; i <= 10'000; ++i) {
    wire::SendRequest request;
    request.number = i;
    const std::string name = "group-" + std::to_string(i);
    request.targets.push_back(name);
    client->say(request);
  }
  while (const auto got = client->until(RecordKind::acked)) {
    ASSERT_EQ(got->kind, RecordKind::acked);
    if (got->as<wire::Acked>().number == 10'000) break;
  }
}

TEST_F(BadInput, NumbersOutOfTurn) {
  auto client = bad("counter");
  wire::SendRequest request;
  request.number = 5;
  request.targets.push_back("g2");
  client->say(request);
  EXPECT_EQ(client->closing().first, ClientCode::bad_record);
}

TEST_F(BadInput, HangsUpInTheMiddle) {
  const auto bytes = hello_bytes();
  for (std::size_t length = 1; length <= bytes.size(); ++length) {
    Client client(site_.socket());
    client.write(ByteView(bytes).first(length));
    client.cut();
  }
}

}  // namespace
}  // namespace peal::daemon::test
