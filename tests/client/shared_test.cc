// SPDX-License-Identifier: Apache-2.0
#include "wire/shared.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "fake_daemon.h"
#include "io/fd.h"
#include "io/shared_memory.h"
#include "model_daemon.h"

// Events in memory that the daemon shares. The client reads each byte once, and trusts no value.

namespace peal::client::test {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint32_t kMemoryBytes = 4U << 20;

Bytes event_record(const std::string& text) {
  wire::MessageEvent event;
  event.place = {{1, {NodeId{1}, 1}}, 1, 0};
  event.sender = "#bob#n1";
  event.targets.push_back("chat");
  event.payload = as_bytes_view(text);
  Bytes record;
  append(record, event);
  return record;
}

/// A session that reads shared memory. The daemon may change the memory at any time.
struct SharedTest : testing::Test {
  SharedTest()
      : words(kMemoryBytes / 8), session(SessionOptions{"ada", "", 1'000, 1U << 20, true}) {
    daemon.limits.shared_bytes = kMemoryBytes;
    greet();
  }
  ByteSpan memory() { return std::as_writable_bytes(std::span(words)); }
  void greet() {
    session.connected();
    session.share(memory());
    converse(session, daemon);
    ASSERT_EQ(session.phase(), Session::Phase::open);
  }
  /// Writes the record at the offset, and announces its place to the session.
  void tell(std::uint32_t offset, const Bytes& record) {
    put(offset, record);
    say({offset, static_cast<std::uint32_t>(record.size()), generation});
  }
  void put(std::uint32_t offset, const Bytes& record) {
    wire::write_shared(memory().subspan(offset), ++generation, record, {});
  }
  void say(const wire::Shared& place) {
    Bytes record;
    append(record, place);
    session.received(record);
  }
  bool is_fault() const {
    return session.phase() == Session::Phase::ended &&
           session.ending().code == wire::ClientCode::bad_record;
  }

  ModelDaemon daemon;
  std::vector<std::uint64_t> words;
  Session session;
  std::uint64_t generation = 0;
};

TEST_F(SharedTest, IsReadAsIfItHadComeOnTheConnection) {
  EXPECT_EQ(std::count(daemon.kinds.begin(), daemon.kinds.end(), wire::RecordKind::mapped), 1);
  tell(0, event_record("first"));
  tell(kMemoryBytes - 128, event_record("last"));
  EXPECT_EQ(read_all(session), (std::vector<std::string>{"first", "last"}));
  Bytes said;
  append(said, wire::RecordKind::seen, wire::Acked{2});
  EXPECT_EQ(take_output(session), said);
}

TEST_F(SharedTest, IsSeenOnceItIsTaken) {
  tell(0, event_record("one"));
  session.received(event_record("behind it"));
  tell(1'024, event_record("two"));
  EXPECT_TRUE(take_output(session).empty());
  wire::MessageEvent message;
  const std::optional<Item> item = session.take(message);  // `message` points into this item
  ASSERT_TRUE(item);
  EXPECT_EQ(text_of(message.payload), "one");
  Bytes said;
  append(said, wire::RecordKind::seen, wire::Acked{1});
  EXPECT_EQ(take_output(session), said);
  EXPECT_EQ(read_all(session), (std::vector<std::string>{"behind it", "two"}));
  said.clear();
  append(said, wire::RecordKind::seen, wire::Acked{3});
  EXPECT_EQ(take_output(session), said);
}

TEST_F(SharedTest, IsTheClientsOnceItsConnectionEnded) {
  tell(64, event_record("as it was"));
  session.received(event_record("behind it"));
  session.disconnected("cut");
  std::fill(words.begin(), words.end(), 0);
  session.connected();
  const Bytes hello = take_output(session);
  wire::Hello said;
  ASSERT_EQ(decode(ByteView(hello).subspan(wire::kRecordHeaderBytes), said), wire::Drop::none);
  EXPECT_EQ(said.events_seen, 2U);
  EXPECT_EQ(read_all(session),
            (std::vector<std::string>{"as it was", "behind it", "<disconnected>"}));
}

TEST_F(SharedTest, WhatIsGoneWhenItIsTakenComesAgain) {
  tell(0, event_record("kept"));
  tell(1'024, event_record("lost"));
  session.received(event_record("behind it"));
  put(1'024, event_record("else"));
  EXPECT_EQ(read_all(session), std::vector<std::string>{"kept"});
  EXPECT_TRUE(session.inbox().is_torn());
  EXPECT_EQ(session.inbox().unread_bytes(), 0U);
  session.disconnected("it is gone");
  session.connected();
  const Bytes hello = take_output(session);
  wire::Hello said;
  ASSERT_EQ(decode(ByteView(hello).subspan(wire::kRecordHeaderBytes), said), wire::Drop::none);
  EXPECT_EQ(said.events_seen, 1U);
}

TEST_F(SharedTest, WhatIsGoneWhenTheConnectionEndsComesAgain) {
  tell(0, event_record("kept"));
  tell(1'024, event_record("lost"));
  tell(2'048, event_record("behind it"));
  put(1'024, event_record("else"));
  session.disconnected("cut");
  session.connected();
  const Bytes hello = take_output(session);
  wire::Hello said;
  ASSERT_EQ(decode(ByteView(hello).subspan(wire::kRecordHeaderBytes), said), wire::Drop::none);
  EXPECT_EQ(said.events_seen, 1U);
  EXPECT_EQ(read_all(session), (std::vector<std::string>{"kept", "<disconnected>"}));
}

TEST_F(SharedTest, WhatIsGoneEndsTheConnectionAndIsNeverTold) {
  const Bytes record = event_record("lost");
  tell(0, event_record("kept"));
  put(1'024, record);
  put(1'024, event_record("else"));
  say({1'024, static_cast<std::uint32_t>(record.size()), generation - 1});
  EXPECT_TRUE(session.inbox().is_torn());
  tell(2'048, event_record("behind it"));
  session.received(event_record("on the connection"));
  EXPECT_EQ(read_all(session), std::vector<std::string>{"kept"});
  EXPECT_EQ(session.phase(), Session::Phase::open);
  session.disconnected("it is gone");
  EXPECT_FALSE(session.inbox().is_torn());
  session.connected();
  const Bytes hello = take_output(session);
  wire::Hello said;
  ASSERT_EQ(decode(ByteView(hello).subspan(wire::kRecordHeaderBytes), said), wire::Drop::none);
  EXPECT_EQ(said.events_seen, 1U);
}

TEST_F(SharedTest, BehindWhatIsGoneTheReasonOfTheDaemonIsStillTaken) {
  say({64, 100, 9});
  ASSERT_TRUE(session.inbox().is_torn());
  Bytes closing;
  append(closing, wire::Closing{wire::ClientCode::slow, "too slow"});
  session.received(closing);
  EXPECT_EQ(session.phase(), Session::Phase::ended);
  EXPECT_EQ(session.ending().code, wire::ClientCode::slow);
}

TEST_F(SharedTest, IsNothingThatCannotBeThere) {
  const std::vector<std::pair<std::string, std::function<void(SharedTest&)>>> lies{
      {"behind the end",
       [](auto& t) {
         t.say({kMemoryBytes, 100, 1});
       }},
      {"across the end",
       [](auto& t) {
         t.say({kMemoryBytes - 64, 100, 1});
       }},
      {"at the end of all numbers",
       [](auto& t) {
         t.say({0xffff'ffc0, 1'000'000, 1});
       }},
      {"not at a multiple of 64",
       [](auto& t) {
         t.say({8, 100, 1});
       }},
      {"less than a record",
       [](auto& t) {
         t.say({0, 4, 1});
       }},
      {"more than any record",
       [](auto& t) {
         t.say({0, wire::kSharedRecordMax + 1, 1});
       }},
      {"no generation",
       [](auto& t) {
         t.say({0, 100, 0});
       }},
      {"another length",
       [](auto& t) {
         t.put(0, event_record("abc"));
         t.say({0, static_cast<std::uint32_t>(event_record("abc").size() - 1), t.generation});
       }},
      {"no event",
       [](auto& t) {
         Bytes reply;
         append(reply, wire::Reply{1, wire::ClientCode::ok, ""});
         t.tell(0, reply);
       }},
      {"a place in a place",
       [](auto& t) {
         Bytes place;
         append(place, wire::Shared{64, 100, 1});
         t.tell(0, place);
       }},
      {"a damaged event",
       [](auto& t) {
         Bytes record = event_record("abc");
         record[wire::kRecordHeaderBytes + 32] = std::byte{200};  // the event's service
         t.tell(0, record);
       }},
  };
  for (const auto& [what, lie] : lies) {
    session = Session(SessionOptions{"ada", "", 1'000, 1U << 20, true});
    daemon.forget();
    daemon.connect();
    greet();
    lie(*this);
    EXPECT_TRUE(read_all(session) == std::vector<std::string>{"<ended>"}) << what;
    EXPECT_TRUE(is_fault()) << what;
    EXPECT_FALSE(session.inbox().is_torn()) << what;
  }
}

/// The size of unseen events in shared memory is limited. A few bytes on the connection can
/// announce many large events, and the client copies all unseen events when the connection ends.
TEST_F(SharedTest, IsNoMoreThanMayBeUnseen) {
  const Bytes large = event_record(std::string(900'000, 'x'));
  tell(0, large);
  tell(1U << 20, large);
  EXPECT_EQ(session.phase(), Session::Phase::open);
  EXPECT_EQ(read_all(session).size(), 2U);
  take_output(session);  // the session reports both events as seen
  tell(0, large);
  tell(1U << 20, large);
  EXPECT_EQ(session.phase(), Session::Phase::open);
  tell(2U << 20, large);
  EXPECT_TRUE(is_fault());
}

TEST_F(SharedTest, IsNotReadOfAnEarlierConnection) {
  session.disconnected("cut");
  session.connected();
  daemon.connect();
  converse(session, daemon);
  ASSERT_EQ(session.phase(), Session::Phase::open);
  EXPECT_EQ(std::count(daemon.kinds.begin(), daemon.kinds.end(), wire::RecordKind::mapped), 1);
  tell(0, event_record("x"));
  EXPECT_TRUE(is_fault());
}

TEST(SharedWelcome, IsAFaultIfNobodyAskedForMemory) {
  ModelDaemon daemon;
  daemon.limits.shared_bytes = 4'096;
  Session session({"ada", "", 1'000, 1U << 20});
  session.connected();
  converse(session, daemon);
  EXPECT_EQ(session.phase(), Session::Phase::ended);
}

// ---- v0::Client with a descriptor of shared memory ----

std::vector<std::string> texts_of(v0::Client& client, std::size_t count) {
  std::vector<std::string> texts;
  while (texts.size() < count) {
    const auto event = client.wait(std::chrono::seconds(60));
    if (!event) break;
    if (const auto* message = std::get_if<v0::GroupMessage>(&*event)) {
      texts.emplace_back(as_text(message->payload));
    } else {
      texts.emplace_back("<notice>");
    }
  }
  return texts;
}

struct Shared {
  Shared() : memory(*io::SharedMemory::make(1U << 20)) {
    daemon.share(memory.fd());
    daemon.with([](ModelDaemon& model) { model.limits.shared_bytes = 1U << 20; });
  }
  void tell(std::uint32_t offset, const std::string& text, bool is_gone = false) {
    const Bytes record = event_record(text);
    wire::write_shared(memory.span().subspan(offset), ++generation, record, {});
    Bytes place;
    append(place, wire::Shared{offset, static_cast<std::uint32_t>(record.size()),
                               is_gone ? generation + 1 : generation});
    // The lost record is not an event of the model, so the daemon does not send it again.
    daemon.with(
        [&](ModelDaemon& model) { is_gone ? model.say_raw(place) : model.tell_record(place); });
  }
  io::SharedMemory memory;
  std::uint64_t generation = 0;
  FakeDaemon daemon;
};

TEST(SharedClient, ReadsWhatLiesInMemory) {
  Shared shared;
  auto client = v0::Client::connect(shared.daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  shared.tell(0, "one");
  shared.tell(64 * 1'024, std::string(500'000, 'x'));
  EXPECT_EQ(texts_of(*client, 2), (std::vector<std::string>{"one", std::string(500'000, 'x')}));
}

TEST(SharedClient, ComesBackIfWhatItWasToldIsGone) {
  Shared shared;
  auto client = v0::Client::connect(shared.daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  shared.tell(0, "one");
  EXPECT_EQ(texts_of(*client, 1), std::vector<std::string>{"one"});
  shared.tell(64, "two", true);
  shared.daemon.wait_for([](ModelDaemon& model) { return model.hellos == 2; });
  shared.tell(128, "again");
  EXPECT_EQ(texts_of(*client, 3), (std::vector<std::string>{"<notice>", "<notice>", "again"}));
}

TEST(SharedClient, DoesWithoutMemoryThatItCannotTrust) {
  FakeDaemon daemon;
  const io::Fd unsealed(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  daemon.share(unsealed.get());
  daemon.with([](ModelDaemon& model) { model.limits.shared_bytes = 1U << 20; });
  auto client = v0::Client::connect(daemon.options());
  ASSERT_TRUE(client) << client.error().message;
  daemon.with([](ModelDaemon& model) { model.tell("on the connection"); });
  EXPECT_EQ(texts_of(*client, 1), std::vector<std::string>{"on the connection"});
  daemon.with([](ModelDaemon& model) {
    EXPECT_EQ(std::count(model.kinds.begin(), model.kinds.end(), wire::RecordKind::mapped), 0);
  });
}

}  // namespace
}  // namespace peal::client::test
