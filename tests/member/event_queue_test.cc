// SPDX-License-Identifier: Apache-2.0
#include "member/event_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <string>
#include <thread>

#include "member/event_reader.h"
#include "node/unit.h"

namespace peal::member {
namespace {

const MemberId kSender{NodeId{1}, 7};

bool readable(int fd, int wait_ms = 0) {
  pollfd descriptor{fd, POLLIN, 0};
  return ::poll(&descriptor, 1, wait_ms) == 1;
}

Entry notice(std::string text) {
  auto made = std::make_unique<Notice>();
  made->kind = Notice::Kind::warning;
  made->text = std::move(text);
  return {{}, std::move(made)};
}

Entry view(std::uint64_t number, bool transitional) {
  Entry entry = notice({});
  entry.notice->kind = Notice::Kind::view;
  entry.notice->transitional = transitional;
  entry.notice->id = {number, kSender};
  return entry;
}

/// A unit that holds the given messages.
Entry unit(BufferPool& pool, Seq seq, const std::vector<std::string>& texts) {
  Entry entry;
  entry.unit.sender = kSender;
  entry.unit.seq = seq;
  entry.unit.service = Service::agreed;
  entry.unit.unit = pool.take();
  node::UnitWriter writer({entry.unit.unit.data(), entry.unit.unit.size()}, seq * 100);
  for (const std::string& text : texts) writer.add_whole(Service::agreed, as_bytes_view(text));
  entry.unit.unit.truncate(static_cast<std::uint32_t>(writer.size()));
  return entry;
}

/// A reader of a small queue, for units of node a.
struct Reading {
  explicit Reading(std::uint32_t slabs) : pool(200, slabs) {}
  static trace::Names named() {
    trace::Names names;
    names.set({1}, "a");
    return names;
  }

  BufferPool pool;
  EventQueue queue{8, 8, 1'000, 100};
  EventReader reader{queue, named(), 1'000};
};

TEST(EventQueue, ShowsOnlyWhatIsPublished) {
  EventQueue queue(8, 8, 1'000, 100);
  EXPECT_EQ(queue.front(), nullptr);
  queue.push(notice("a"));
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_FALSE(readable(queue.fd()));
  queue.publish();
  EXPECT_TRUE(readable(queue.fd()));
  const Entry* entry = queue.front();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->notice->text, "a");
  queue.pop();
  EXPECT_TRUE(readable(queue.fd()));  // the descriptor stays readable until front() finds nothing
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_FALSE(readable(queue.fd()));
  queue.publish();
  EXPECT_FALSE(readable(queue.fd()));
}

TEST(EventQueue, RoomShrinksWithUnitsAndWithBytes) {
  BufferPool pool(100, 64);
  EventQueue queue(10, 4, 1'000, 50);
  EXPECT_EQ(queue.room_units(), 10U);
  queue.push(notice("a"));
  EXPECT_EQ(queue.room_units(), 9U);
  for (Seq seq = 1; seq <= 5; ++seq) queue.push(unit(pool, seq, {std::string(80, 'x')}));
  EXPECT_EQ(queue.unread_bytes(), 5 * 91U);
  EXPECT_EQ(queue.room_units(), 4U);
  queue.push(unit(pool, 6, {std::string(80, 'x')}));
  queue.push(unit(pool, 7, {std::string(80, 'x')}));
  EXPECT_EQ(queue.room_units(), 2U);
  queue.publish();
  for (int i = 0; i < 8; ++i) {
    ASSERT_NE(queue.front(), nullptr);
    queue.pop();
  }
  EXPECT_EQ(queue.unread_bytes(), 0U);
  EXPECT_EQ(queue.room_units(), 10U);
}

TEST(EventQueue, TakesMoreThanItHasRoomForAndKeepsTheOrder) {
  EventQueue queue(4, 2, 1'000, 10);
  for (int i = 0; i < 50; ++i) queue.push(notice(std::to_string(i)));
  queue.publish();
  EXPECT_EQ(queue.room_units(), 0U);
  int next = 0;
  while (next < 50) {
    while (const Entry* entry = queue.front()) {
      ASSERT_EQ(entry->notice->text, std::to_string(next++));
      queue.pop();
    }
    queue.publish();
  }
  EXPECT_TRUE(queue.take_room());
  EXPECT_EQ(queue.room_units(), 4U);
}

TEST(EventQueue, SaysOnceThatThereIsRoomAgain) {
  EventQueue queue(4, 4, 1'000, 10);
  for (int i = 0; i < 4; ++i) queue.push(notice("x"));
  queue.publish();
  EXPECT_EQ(queue.room_units(), 0U);
  std::vector<bool> told;
  while (queue.front() != nullptr) {
    queue.pop();
    told.push_back(queue.take_room());
  }
  EXPECT_EQ(told, (std::vector<bool>{false, true, false, false}));
}

TEST(EventQueue, TheLoopHearsOfManyEntriesAtOnceAndOfTheLastOnes) {
  BufferPool pool(100, 64);
  EventQueue queue(64, 4, 10'000, 100);
  for (Seq seq = 1; seq <= 20; ++seq) queue.push(unit(pool, seq, {"x"}));
  queue.publish();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_NE(queue.front(), nullptr);
    queue.pop();
    EXPECT_EQ(queue.room_units(), i < 16 ? 44U : 60U);
  }
  EXPECT_EQ(queue.front(), nullptr);
  EXPECT_EQ(queue.room_units(), 64U);
  EXPECT_EQ(queue.unread_bytes(), 0U);
  queue.publish();
  EXPECT_EQ(pool.free_count(), 64U);
}

TEST(EventQueue, AReaderThatSleepsOnTheDescriptorMissesNothing) {
  EventQueue queue(64, 64, 1'000, 10);
  constexpr int kCount = 50'000;
  std::thread writer([&] {
    for (int i = 0; i < kCount; ++i) {
      while (queue.room_units() == 0) std::this_thread::yield();
      queue.push(notice(std::to_string(i)));
      queue.publish();
    }
  });
  for (int next = 0; next < kCount;) {
    const Entry* entry = queue.front();
    if (entry == nullptr) {
      ASSERT_TRUE(readable(queue.fd(), 60'000));
      continue;
    }
    ASSERT_EQ(entry->notice->text, std::to_string(next++));
    queue.pop();
  }
  writer.join();
}

TEST(EventReader, GivesTheMessagesOfAUnitAndKeepsItUntilTheNextCall) {
  Reading reading(2);
  auto& [pool, queue, reader] = reading;
  queue.push(view(3, false));
  queue.push(unit(pool, 5, {"one", "", "three"}));
  queue.publish();
  EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Notice>>(reader.next()));
  const std::string expected[] = {"one", "", "three"};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto out = reader.next();
    const auto* message = std::get_if<MessageOut>(&out);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(as_text(message->payload), expected[i]);
    EXPECT_EQ(message->sender, "a.7");
    EXPECT_EQ(message->view, "3@a.7");
    EXPECT_EQ(message->seq, 5U);
    EXPECT_EQ(message->index, i);
    EXPECT_EQ(message->number, 500U + i);
    EXPECT_EQ(pool.free_count(), 1U);
  }
  EXPECT_TRUE(std::holds_alternative<std::monostate>(reader.next()));
  EXPECT_EQ(queue.unread_bytes(), 0U);
  EXPECT_EQ(pool.free_count(), 1U) << "only the loop's thread counts references";
  queue.publish();
  EXPECT_EQ(pool.free_count(), 2U);
}

TEST(EventReader, MessagesAreOfTheViewThatWasAnnouncedLast) {
  Reading reading(4);
  auto& [pool, queue, reader] = reading;
  queue.push(view(3, false));
  queue.push(unit(pool, 5, {"regular"}));
  queue.push(view(4, true));
  queue.push(unit(pool, 6, {"last of the old view"}));
  queue.push(view(4, false));
  queue.push(unit(pool, 1, {"first of the new one"}));
  queue.publish();
  std::vector<std::pair<std::string, bool>> seen;
  for (int i = 0; i < 6; ++i) {
    const auto out = reader.next();
    const auto* message = std::get_if<MessageOut>(&out);
    if (message != nullptr) seen.emplace_back(message->view, message->transitional);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, bool>>{
                      {"3@a.7", false}, {"3@a.7", true}, {"4@a.7", false}}));
}

TEST(EventReader, NamesThatAreNewAreThoseOfWhatComesAfterThem) {
  Reading reading(4);
  auto& [pool, queue, reader] = reading;
  const auto from_two = [&pool = pool](Seq seq) {
    Entry entry = unit(pool, seq, {"x"});
    entry.unit.sender = {NodeId{2}, 9};
    return entry;
  };
  Entry names;
  names.notice = std::make_unique<Notice>();
  names.notice->kind = Notice::Kind::names;
  names.notice->names = {{NodeId{2}, "b"}};
  queue.push(view(3, false));
  queue.push(unit(pool, 5, {"x"}));
  queue.push(std::move(names));
  queue.push(from_two(6));
  queue.publish();
  std::vector<std::string> senders;
  for (int i = 0; i < 3; ++i) {
    const auto out = reader.next();  // a notice with names gives no event
    const auto* message = std::get_if<MessageOut>(&out);
    if (message != nullptr) senders.emplace_back(message->sender);
  }
  EXPECT_EQ(senders, (std::vector<std::string>{"a.7", "b.9"}));
  EXPECT_EQ(reader.names().name({2}), "b");
}

TEST(EventReader, GivesAGatheredMessageAndSkipsAnEndWithoutAStart) {
  for (const bool has_start : {true, false}) {
    Reading reading(2);
    auto& [pool, queue, reader] = reading;
    Entry entry = unit(pool, 5, {});
    entry.unit.unit = pool.take();
    node::UnitWriter writer({entry.unit.unit.data(), entry.unit.unit.size()}, 8);
    writer.add_rest(Service::agreed, 4, true, as_bytes_view("tail"));
    writer.add_whole(Service::agreed, as_bytes_view("next"));
    writer.add_first(Service::agreed, 99, as_bytes_view("begin"));
    entry.unit.unit.truncate(static_cast<std::uint32_t>(writer.size()));
    DeliveredUnit::Rare& rare = entry.unit.make_rare();
    if (has_start) {
      rare.gathered = {std::make_unique<std::byte[]>(8), 8};
      std::memcpy(rare.gathered.bytes.get(), "headtail", 8);
    }
    // The unit's bytes are in a copy, and no longer in a buffer. The reader gives the same
    // messages.
    rare.copy = {std::make_unique<std::byte[]>(writer.size()),
                 static_cast<std::uint32_t>(writer.size())};
    std::memcpy(rare.copy.bytes.get(), entry.unit.unit.data(), writer.size());
    entry.unit.unit.reset();
    queue.push(std::move(entry));
    queue.publish();
    if (has_start) {
      const auto out = reader.next();
      EXPECT_EQ(as_text(std::get<MessageOut>(out).payload), "headtail");
      EXPECT_EQ(std::get<MessageOut>(out).number, 8U);
    }
    const auto out = reader.next();
    EXPECT_EQ(as_text(std::get<MessageOut>(out).payload), "next");
    EXPECT_EQ(std::get<MessageOut>(out).index, 1U);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(reader.next()));
  }
}

}  // namespace
}  // namespace peal::member
