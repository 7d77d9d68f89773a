// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fake_daemon.h"

// Tests of clients with real sockets, through the public interface.

namespace peal::client::test {
namespace {

using testing::HasSubstr;
using v0::ErrorCode;
using v0::Reason;
using std::chrono_literals::operator""ms;

v0::Client connect(const v0::ClientOptions& options) {
  auto made = v0::Client::connect(options);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return std::move(*made);
}

template <class T>
T expect(v0::Client& client) {
  auto event = client.wait(v0::kForever);
  if (!event || !std::holds_alternative<T>(*event)) {
    ADD_FAILURE() << "another event, of index " << (event ? event->index() : 99);
    return T{};
  }
  return std::get<T>(*event);
}

TEST(Client, TellsWhoItIs) {
  FakeDaemon daemon;
  auto options = daemon.options();
  options.token = "open sesame";
  v0::Client client = connect(options);
  const v0::ClientStatus status = client.status();
  EXPECT_EQ(status.name, "#ada#n1");
  EXPECT_EQ(status.node, "n1");
  EXPECT_EQ(status.cluster, "test");
  EXPECT_EQ(status.message_bytes_max, 1'000U);
  EXPECT_TRUE(status.connected);
  EXPECT_FALSE(status.ended);
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.secret, "open sesame"); });
}

TEST(Client, AGapSaysWhy) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  daemon.with([](ModelDaemon& model) {
    model.tell_gap("");
    std::vector<std::byte> record;
    const wire::Place first{{1, {NodeId{1}, 1}}, 3, 0}, last{{1, {NodeId{1}, 1}}, 5, 1};
    append(record, wire::GapEvent{"chat", 4, 40, first, last, wire::GapReason::slow});
    model.tell_record(std::move(record));
  });
  const auto away = expect<v0::Gap>(client);
  EXPECT_EQ(away.reason, v0::GapReason::away);
  EXPECT_EQ(away.group, "");
  EXPECT_EQ(away.messages, 0U);
  EXPECT_EQ(away.first.position, 0U);
  const auto slow = expect<v0::Gap>(client);
  EXPECT_EQ(slow.reason, v0::GapReason::slow);
  EXPECT_EQ(slow.messages, 4U);
  EXPECT_EQ(slow.last.position, 5U);
}

TEST(Client, FifoAndCausalMessagesMayHaveNoPlace) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  std::uint64_t sent = 0;
  for (const bool causal : {false, true}) {
    daemon.with([&](ModelDaemon& model) { model.causal = causal; });
    for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
      const auto ticket = client.send({"chat"}, "hello", {.service = service});
      ASSERT_TRUE(ticket) << ticket.error().message;
      EXPECT_EQ(ticket->number, ++sent);
      const auto message = expect<v0::GroupMessage>(client);
      EXPECT_EQ(message.service, service);
      const bool placed = !causal || is_ordered(service);
      EXPECT_EQ(message.place.view, 1U);
      EXPECT_EQ(message.place.position, placed ? sent : 0U);
      EXPECT_EQ(message.place.index, 0U);
      EXPECT_EQ(message.number, placed ? 0U : sent);
    }
  }
  EXPECT_TRUE(client.flush());
}

TEST(Client, AGapOfMessagesWithoutAPlaceNamesNone) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  daemon.with([](ModelDaemon& model) {
    const wire::Place none{{1, {NodeId{1}, 1}}, 0, 0};
    std::vector<std::byte> record;
    append(record, wire::GapEvent{"chat", 4, 40, none, none, wire::GapReason::slow});
    model.tell_record(std::move(record));
  });
  const auto gap = expect<v0::Gap>(client);
  EXPECT_EQ(gap.messages, 4U);
  EXPECT_EQ(gap.first.view, 1U);
  EXPECT_EQ(gap.first.position, 0U);
  EXPECT_EQ(gap.last.position, 0U);
}

TEST(Client, NobodyListens) {
  v0::ClientOptions options;
  options.daemon = testing::TempDir() + "no-such-socket";
  const auto made = v0::Client::connect(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unreachable);
  EXPECT_THAT(made.error().message, HasSubstr("no-such-socket"));
  EXPECT_THAT(made.error().message, HasSubstr("running?"));
}

TEST(Client, HeadersOfAnotherVersionAreRefused) {
  FakeDaemon daemon;
  const auto made = v0::Client::connect(daemon.options(), PEAL_VERSION + 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::wrong_version);
  EXPECT_THAT(made.error().message, HasSubstr(PEAL_VERSION_TEXT));
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.hellos, 0U); });
}

TEST(Client, ADaemonThatTurnsItAwaySaysWhy) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.turns_away = wire::ClientCode::bad_secret; });
  const auto made = v0::Client::connect(daemon.options());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::refused);
  EXPECT_EQ(made.error().reason, Reason::bad_secret);
  EXPECT_THAT(made.error().message, HasSubstr("turned away"));
}

TEST(Client, ADaemonThatDoesNotAnswer) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.answers = false; });
  auto options = daemon.options();
  options.connect_timeout = 20ms;
  const auto made = v0::Client::connect(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::timed_out);
}

TEST(Client, NoThreadIsLeft) {
  FakeDaemon daemon;
  pthread_attr_t usual{};
  pthread_attr_t huge{};
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 60U), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const auto made = v0::Client::connect(daemon.options());
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::system);
  EXPECT_THAT(made.error().message, HasSubstr("thread"));
}

TEST(Client, OptionsThatCannotBe) {
  using Change = std::function<void(v0::ClientOptions&)>;
  const std::vector<std::pair<std::string, Change>> bad{
      {"name", [](auto& o) { o.name = std::string(33, 'x'); }},
      {"token", [](auto& o) { o.token = std::string(257, 'x'); }},
      {"receive_bytes_max", [](auto& o) { o.receive_bytes_max = 0; }},
      {"receive_bytes_max", [](auto& o) { o.receive_bytes_max = (1ULL << 40U) + 1; }},
      {"connect_timeout", [](auto& o) { o.connect_timeout = 0ms; }},
      {"keep", [](auto& o) { o.keep = -1ms; }},
      {"spin", [](auto& o) { o.spin = std::chrono::microseconds(-1); }},
      {"spin", [](auto& o) { o.spin = std::chrono::microseconds(1'000'001); }},
      {"daemon", [](auto& o) { o.daemon = ""; }},
  };
  for (const auto& [name, change] : bad) {
    v0::ClientOptions options;
    change(options);
    const auto made = v0::Client::connect(options);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, ErrorCode::invalid_option) << name;
    EXPECT_THAT(made.error().message, HasSubstr(name));
  }
}

TEST(Client, AMessageGoesOutAndComesBack) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  ASSERT_TRUE(client.join("chat"));
  const auto ticket = client.send({"chat"}, "hello");
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket.value().number, 1U);
  ASSERT_TRUE(client.flush());
  EXPECT_EQ(client.status().settled, 1U);
  const auto message = expect<v0::GroupMessage>(client);
  EXPECT_EQ(message.text(), "hello");
  EXPECT_EQ(message.sender, "#ada#n1");
  ASSERT_EQ(message.targets.size(), 1U);
  EXPECT_EQ(message.targets[0], "chat");
  EXPECT_EQ(message.place.position, 1U);
  EXPECT_FALSE(client.next());
  EXPECT_TRUE(client.leave("chat"));
}

TEST(Client, ARequestThatIsRefusedSaysWhy) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.join_code = wire::ClientCode::not_permitted; });
  v0::Client client = connect(daemon.options());
  for (const auto& answer : {client.join("secret"), client.leave("secret")}) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::refused);
    EXPECT_EQ(answer.error().reason, Reason::not_permitted);
    EXPECT_EQ(answer.error().message, "secret");
  }
  EXPECT_EQ(client.join("").error().code, ErrorCode::invalid_option);
  EXPECT_EQ(client.join(std::string(129, 'x')).error().code, ErrorCode::invalid_option);
  v0::JoinOptions options;
  options.age_max = -1ms;
  EXPECT_EQ(client.join("chat", options).error().code, ErrorCode::invalid_option);
  EXPECT_EQ(*client.ask("status"), "fine");
  EXPECT_EQ(client.ask("").error().code, ErrorCode::invalid_option);
}

TEST(Client, SendingWaitsForRoom) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) {
    model.echoes = false;
    model.limits.unsettled_messages_max = 1;
  });
  v0::Client client = connect(daemon.options());
  ASSERT_TRUE(client.send({"chat"}, "a"));
  EXPECT_EQ(client.send({"chat"}, "b").error().code, ErrorCode::would_block);
  const std::vector<std::string_view> targets{"chat"};
  EXPECT_EQ(client.send_for(targets, {}, 1ms).error().code, ErrorCode::would_block);
  EXPECT_EQ(client.flush(1ms).error().code, ErrorCode::timed_out);
  EXPECT_FALSE(readable(client.room_fd()));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 1; });
  daemon.with([](ModelDaemon& model) { model.acknowledge(1); });
  EXPECT_TRUE(readable(client.room_fd(), -1));
  EXPECT_TRUE(client.send({"chat"}, "b"));
  EXPECT_EQ(client.send({"chat"}, std::string(1'001, 'x')).error().code, ErrorCode::too_large);
  EXPECT_EQ(client.send({}, "x").error().code, ErrorCode::invalid_option);
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 2; });
  daemon.with([](ModelDaemon& model) { model.acknowledge(2); });
  EXPECT_TRUE(client.send_for(targets, {}, v0::kForever));
}

TEST(Client, TheDescriptorSaysWhenThereIsAnEvent) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  EXPECT_FALSE(readable(client.fd()));
  EXPECT_FALSE(client.wait(1ms));
  daemon.with([](ModelDaemon& model) { model.tell("a"); });
  EXPECT_TRUE(readable(client.fd(), -1));
  EXPECT_EQ(expect<v0::GroupMessage>(client).text(), "a");
  EXPECT_FALSE(client.next());
  EXPECT_FALSE(readable(client.fd()));
}

TEST(Client, ClosingSettlesAndEnds) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  ASSERT_TRUE(client.send({"chat"}, "last"));
  client.close(v0::kForever);
  EXPECT_EQ(client.send({"chat"}, "x").error().code, ErrorCode::closed);
  EXPECT_EQ(client.join("chat").error().code, ErrorCode::closed);
  EXPECT_EQ(expect<v0::GroupMessage>(client).text(), "last");
  const auto ended = expect<v0::Ended>(client);
  EXPECT_TRUE(ended.on_request);
  EXPECT_EQ(ended.unsettled_first, 0U);
  EXPECT_FALSE(client.wait(v0::kForever)) << "there is never one after it";
  EXPECT_TRUE(client.status().ended);
  client.close();
  daemon.with([](ModelDaemon& model) { EXPECT_TRUE(model.goodbye); });
}

TEST(Client, ClosingWithoutPatienceNamesWhatIsUnsettled) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.echoes = false; });
  v0::Client client = connect(daemon.options());
  ASSERT_TRUE(client.send({"chat"}, "a"));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 1; });
  daemon.go_away();
  expect<v0::Disconnected>(client);
  client.close(0ms);
  const auto ended = expect<v0::Ended>(client);
  EXPECT_EQ(ended.unsettled_first, 1U);
  EXPECT_EQ(ended.unsettled_messages, 1U);
  EXPECT_EQ(client.flush().error().code, ErrorCode::closed);
}

TEST(Client, AnEndedSessionSaysWhy) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  daemon.with([](ModelDaemon& model) { model.close(wire::ClientCode::slow, "too slow"); });
  const auto ended = expect<v0::Ended>(client);
  EXPECT_FALSE(ended.on_request);
  EXPECT_EQ(ended.reason, Reason::slow);
  EXPECT_EQ(ended.message, "too slow");
  EXPECT_EQ(v0::reason_name(ended.reason), "slow");
  EXPECT_TRUE(client.flush()) << "nothing is unsettled";
}

TEST(Client, OneThatIsDroppedSaysGoodbye) {
  FakeDaemon daemon;
  { const v0::Client client = connect(daemon.options()); }
  daemon.wait_for([](ModelDaemon& model) { return model.goodbye; });
}

TEST(Client, SaysSomethingAsOftenAsTheDaemonWants) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 200; });
  const v0::Client client = connect(daemon.options());
  daemon.wait_for([](ModelDaemon& model) {
    return std::count(model.kinds.begin(), model.kinds.end(), wire::RecordKind::ping) >= 3;
  });
}

TEST(Client, AnswersThatDoNotComeAreNotWaitedFor) {
  FakeDaemon daemon;
  v0::Client client = connect(daemon.options());
  daemon.with([](ModelDaemon& model) { model.answers = false; });
  EXPECT_EQ(client.join("chat", {}, 1ms).error().code, ErrorCode::timed_out);
  EXPECT_EQ(client.ask("status", 1ms).error().code, ErrorCode::timed_out);
}

TEST(Client, EventsThatAreNotReadHoldTheDaemonUp) {
  FakeDaemon daemon;
  auto options = daemon.options();
  options.receive_bytes_max = 1;
  v0::Client client = connect(options);
  // More events than one read and the socket's buffers hold together.
  constexpr std::size_t kEvents = 3'000;
  const std::string text(1'000, 'x');
  daemon.with([&](ModelDaemon& model) {
    for (std::size_t i = 0; i < kEvents; ++i) model.tell(text);
  });
  ASSERT_TRUE(readable(client.fd(), -1));
  EXPECT_LT(client.status().unread_events, kEvents);
  for (std::size_t i = 0; i < kEvents; ++i) {
    ASSERT_EQ(expect<v0::GroupMessage>(client).place.position, i + 1);
  }
}

}  // namespace
}  // namespace peal::client::test
