// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocations.h"
#include "session/sessions.h"

namespace peal::session::test {
namespace {

constexpr MemberId kSelf{NodeId{1}, 7};
constexpr ViewId kView{1, kSelf};
constexpr ConnectionId kClients = 10;

/// A node that holds one message at a time.
struct OneSlot final : Host {
  Result<std::uint64_t, Errc> submit(ByteView message, Service its_service,
                                     order::Domain /*domain*/) override {
    if (full) return unexpected(Errc::would_block);
    full = true;
    service = its_service;
    bytes.assign(message.begin(), message.end());
    return ++number;
  }
  void replace_control(ByteView message, DomainSet /*domains*/) override {
    control.assign(message.begin(), message.end());
  }
  std::uint64_t block(bool) override { return 0; }
  void tables_equal(const ViewId&, std::uint64_t) override {}
  std::string_view node_name(NodeId) const override { return "a-node-with-a-long-name"; }
  wire::SessionToken draw_token() override {
    wire::SessionToken token{};
    token[0] = static_cast<std::byte>(++tokens);
    return token;
  }
  Answer ask(std::string_view, bool) override { return {}; }
  ByteSpan open_region(RegionId, std::uint32_t wanted) override {
    memory.resize(wanted / sizeof(std::uint64_t));
    return std::as_writable_bytes(std::span(memory));
  }

  bool full = false;
  Service service{};
  std::uint64_t number = 0;
  unsigned tokens = 0;
  std::vector<std::byte> bytes;
  std::vector<std::byte> control;
  std::vector<std::uint64_t> memory;
};

struct NoSpool final : Spool {
  Result<void, Errc> append(SpoolId, ByteView) override { return unexpected(Errc::system); }
  Result<void, Errc> read(SpoolId, std::uint64_t, ByteSpan) override {
    return unexpected(Errc::system);
  }
  void discard(SpoolId, std::uint64_t) override {}
  void remove(SpoolId) override {}
};

Options options() {
  Options options;
  options.cluster = "demo";
  options.node = "a-node-with-a-long-name";
  options.message_bytes_max = 1U << 20;
  options.shared_bytes = 1U << 20;
  options.clients = {{{}, "*", 1'024, 10'000, 0, true}};
  options.groups = {{{}, "*", true, true, true}};
  return options;
}

enum class Place : std::uint8_t { connection, memory };

/// Sessions, and clients that read each event at once.
struct Hall {
  explicit Hall(Place place_of_events = Place::connection) {
    Identity identity;
    identity.kind = Identity::Kind::unix_user;
    const bool shares = place_of_events == Place::memory;
    const std::vector<MemberId> members{kSelf};
    sessions.on_view(now, {false, kView, {}, members, {}}, kSelf);
    run();
    for (ConnectionId id = 1; id <= kClients; ++id) {
      sessions.accepted(now, id, identity);
      std::vector<std::byte> talk;
      wire::Hello hello;
      hello.keep_ms = 60'000;
      hello.shares = shares;
      append(talk, hello);
      if (shares) append(talk, wire::RecordKind::mapped);
      append(talk, wire::JoinRequest{1, "a group with quite a long name", {}});
      EXPECT_EQ(sessions.received(now, id, talk), talk.size());
      run();
    }
  }
  void place(ByteView message, std::uint64_t number, bool control, Service service) {
    sessions.on_message(now, {kSelf, number, control, kView, ++seq, 0, service, message});
  }
  /// Works until there is nothing more to do.
  void run() {
    for (;;) {
      sessions.work(now);
      if (!host.control.empty()) {
        place(std::exchange(host.control, {}), 0, true, Service::agreed);
        continue;
      }
      if (std::exchange(host.full, false)) {
        taken.swap(host.bytes);
        place(taken, host.number, false, host.service);
        sessions.on_room(now);
        continue;
      }
      sessions.take_wanted(wanted);
      if (wanted.write.empty() && wanted.read.empty()) return;
      for (const ConnectionId id : wanted.write) write(id);
      for (const ConnectionId id : wanted.read) sessions.received(now, id, {});
    }
  }
  void write(ConnectionId id) {
    for (;;) {
      std::size_t bytes = 0;
      for (const ByteView piece : sessions.output(id)) bytes += piece.size();
      if (bytes == 0) return;
      written += bytes;
      sessions.written(now, id, bytes);
    }
  }
  /// Client 1 sends one message to all clients, and all report that they saw it.
  void turn(std::string_view payload) {
    wire::SendRequest send;
    send.number = ++sent;
    send.targets.push_back("a group with quite a long name");
    send.payload = as_bytes_view(payload);
    record.clear();
    append(record, send);
    ASSERT_EQ(sessions.received(now, 1, record), record.size());
    run();
    record.clear();
    for (ConnectionId id = 1; id <= kClients; ++id) {
      // The client saw its own view, the views of clients that joined after it, and the messages.
      record.clear();
      append(record, wire::RecordKind::seen, wire::Acked{kClients - id + 1 + sent});
      ASSERT_EQ(sessions.received(now, id, record), record.size());
    }
    now = now + microseconds(10);
  }

  Instant now{1'000'000'000};
  OneSlot host;
  NoSpool spool;
  Seq seq = 0;
  std::uint64_t sent = 0;
  std::uint64_t written = 0;
  Wanted wanted;
  std::vector<std::byte> record;
  std::vector<std::byte> taken;
  Sessions sessions{options(), host, spool};
};

TEST(SessionAllocation, SmallMessagesAllocateNothingOnceAllIsWarm) {
  Hall hall;
  const std::string text(1'000, 'p');
  const auto turns = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      hall.turn(std::string_view(text).substr(0, i * 37 % 1'000));
    }
  };
  turns(2'000);
  const std::uint64_t written = hall.written;
  const std::uint64_t before = allocations();
  turns(5'000);
  EXPECT_EQ(allocations(), before);
  EXPECT_GT(hall.written, written + 5'000 * kClients * 300);
  EXPECT_EQ(hall.sessions.status(hall.now).memory_bytes, 0U);
  EXPECT_EQ(hall.sessions.counters().settled, 7'000U);
}

TEST(SessionAllocation, NorDoThoseInSharedMemory) {
  Hall hall(Place::memory);
  const std::string text(2'600, 'p');
  const auto turns = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      hall.turn(std::string_view(text).substr(0, 600 + i * 37 % 2'000));
    }
  };
  turns(2'000);
  const std::uint64_t written = hall.written;
  const std::uint64_t before = allocations();
  turns(5'000);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(hall.sessions.counters().shared, 7'000U);
  EXPECT_EQ(hall.sessions.counters().shared_no_room, 0U);
  EXPECT_LT(hall.written, written + 5'000 * kClients * 60);
  EXPECT_EQ(hall.sessions.status(hall.now).region_bytes_in_use, 0U);
}

}  // namespace
}  // namespace peal::session::test
