// SPDX-License-Identifier: Apache-2.0
// Streams over TCP and TLS on one loop, and errors of peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "streams_room.h"
#include "tls_parts.h"

namespace peal::io {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TlsRoom : public StreamsRoom {
 public:
  explicit TlsRoom(const StreamsOptions& options = without_gaps())
      : StreamsRoom(options),
        server_context(open_server(parts.server_options())),
        client_context(open_client(parts.client_options())) {
    auto listener =
        StreamListener::tcp(Endpoint::v4(127, 0, 0, 1, 0), [this](Fd fd, StreamPeer peer) {
          return make_tls_server_stream(std::move(fd), std::move(peer), server_context);
        });
    EXPECT_TRUE(listener.has_value());
    at_ = (*listener)->endpoint();
    EXPECT_TRUE(streams.listen(std::move(*listener)).has_value());
  }
  /// Without gaps between handshake steps, because the loop's time stands still.
  static StreamsOptions without_gaps() {
    StreamsOptions options;
    options.handshake_gap = {};
    return options;
  }
  Fd connect() {
    auto fd = connect_tcp(at_);
    EXPECT_TRUE(fd.has_value());
    return std::move(*fd);
  }
  std::unique_ptr<Stream> knock() {
    return make_tls_client_stream(connect(), {}, client_context, "127.0.0.1");
  }
  std::unique_ptr<Stream> come_in() {
    const std::size_t before = opened.size();
    auto client = knock();
    while (opened.size() == before) {
      EXPECT_NE(client->advance(), StreamOutcome::broken) << client->error().message;
      turn();
    }
    while (client->advance() == StreamOutcome::blocked) turn();
    return client;
  }
  std::string hear_all(Stream& client, std::size_t bytes) {
    std::string heard;
    while (heard.size() < bytes) {
      heard += hear(client);
      turn();
    }
    return heard;
  }

  TlsParts parts;
  std::shared_ptr<const TlsContext> server_context;
  std::shared_ptr<const TlsContext> client_context;

 private:
  Endpoint at_;
};

TEST(TlsStreams, OpensAfterTheHandshakeAndTalks) {
  TlsRoom room;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  EXPECT_EQ(room.peers[id].name, "alice");
  EXPECT_THAT(room.peers[id].text, HasSubstr(" (alice)"));
  say(*client, "hello");
  room.until([&] { return room.inputs[id] == "hello"; });
  room.write(id, "good day");
  EXPECT_EQ(room.hear_all(*client, 8), "good day");
  EXPECT_THAT(room.refused, IsEmpty());
  EXPECT_EQ(room.streams.next_deadline(), std::nullopt);
}

TEST(TlsStreams, ReadsAllOfALongInputThoughTheDescriptorSpeaksOnlyOnce) {
  TlsRoom room;
  room.read_bytes = 100;  // less than a TLS record, and no event reports the record's rest
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i);
  EXPECT_EQ(say(*client, text).bytes, text.size());
  room.until([&] {
    client->flush();
    return room.inputs[id].size() == text.size();
  });
  EXPECT_TRUE(room.inputs[id] == text);
}

/// Writes until the stream takes nothing more. Returns the number of bytes that it took.
std::size_t fill(TlsRoom& room, StreamId id, StreamOutcome& outcome) {
  const std::string block(64U << 10, 'x');
  std::size_t taken = 0;
  Transfer put;
  do {
    put = room.write(id, block);
    taken += put.bytes;
  } while (put.bytes > 0);
  outcome = put.outcome;
  return taken;
}

TEST(TlsStreams, SendsTheRestWithoutBeingAsked) {
  TlsRoom room;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  StreamOutcome outcome{};
  const std::size_t taken = fill(room, id, outcome);
  ASSERT_EQ(outcome, StreamOutcome::blocked);
  EXPECT_EQ(room.hear_all(*client, taken), std::string(taken, 'x'));
  EXPECT_EQ(room.writable_calls, 0);
}

TEST(TlsStreams, FinishSendsAllThatWasTaken) {
  TlsRoom room;
  const auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  StreamOutcome outcome{};
  const std::size_t taken = fill(room, id, outcome);
  room.streams.finish(id);
  EXPECT_EQ(room.hear_all(*client, taken), std::string(taken, 'x'));
  while ((outcome = listen_to(*client)) == StreamOutcome::blocked) room.turn();
  EXPECT_EQ(outcome, StreamOutcome::end);
  client->finish_writing();
  room.until([&] { return room.streams.count() == 0; });
  EXPECT_EQ(room.streams.counters().cut_off, 0U);
}

TEST(TlsStreams, TellsWhoIsRefusedWhyAndForgetsIt) {
  TlsRoom room;
  room.client_context = open_client(room.parts.nameless_client_options());
  const auto client = room.knock();
  while (room.refused.empty()) {
    client->advance();
    room.turn();
  }
  EXPECT_THAT(room.refused.at(0).message, HasSubstr("it has no certificate"));
  StreamOutcome outcome = StreamOutcome::blocked;
  while ((outcome = listen_to(*client)) == StreamOutcome::blocked) room.turn();
  EXPECT_EQ(outcome, StreamOutcome::broken);
  EXPECT_THAT(client->error().message, HasSubstr("needs a certificate of us"));
  client->finish_writing();
  room.until([&] { return room.streams.count() == 0; });
  EXPECT_THAT(room.opened, IsEmpty());
  EXPECT_EQ(room.streams.counters().handshakes_failed, 1U);
}

TEST(TlsStreams, RubbishDisturbsNobodyElse) {
  TlsRoom room;
  const auto good = room.come_in();
  std::vector<std::unique_ptr<Stream>> intruders;
  for (int i = 0; i < 20; ++i) {
    intruders.push_back(make_plain_stream(room.connect(), {}));
    say(*intruders.back(), std::string(1'000, static_cast<char>(i)));
  }
  say(*good, "hello");
  room.until(
      [&] { return room.refused.size() == 20 && room.inputs[room.opened.at(0)] == "hello"; });
  EXPECT_TRUE(room.streams.is_open(room.opened.at(0)));
  EXPECT_THAT(room.opened, SizeIs(1));
}

TEST(TlsStreams, EndsHandshakesThatTakeTooLong) {
  TlsRoom room;
  const auto silent = make_plain_stream(room.connect(), {});
  room.until([&] { return room.streams.count() == 1; });
  room.settle();
  EXPECT_EQ(room.streams.next_deadline(), room.now + seconds(5));
  room.now = room.now + seconds(5) - nanoseconds(1);
  room.settle();
  EXPECT_THAT(room.refused, IsEmpty());
  room.now = room.now + nanoseconds(1);
  room.settle();
  ASSERT_THAT(room.refused, SizeIs(1));
  EXPECT_THAT(room.refused.at(0).message, HasSubstr("took too long"));
  EXPECT_EQ(room.streams.count(), 0U);
  EXPECT_EQ(room.streams.counters().handshakes_late, 1U);
}

TEST(TlsStreams, SilentHandshakesGiveWayToLaterOnes) {
  StreamsOptions options;
  options.handshakes_max = 3;
  options.handshake_gap = {};
  TlsRoom room(options);
  std::vector<std::unique_ptr<Stream>> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(make_plain_stream(room.connect(), {}));
  room.until([&] { return room.streams.count() == 3; });
  const auto client = room.come_in();
  EXPECT_EQ(room.streams.count(), 3U);
  ASSERT_THAT(room.refused, SizeIs(1));
  EXPECT_THAT(room.refused.at(0).message, HasSubstr("gave way"));
  EXPECT_EQ(room.place_wishes, 0);
}

TEST(TlsStreams, StepsOfHandshakesLeaveTimeBetweenThem) {
  StreamsOptions options;
  options.handshake_gap = milliseconds(2);
  TlsRoom room(options);
  std::vector<std::unique_ptr<Stream>> intruders;
  for (int i = 0; i < 10; ++i) {
    intruders.push_back(make_plain_stream(room.connect(), {}));
    say(*intruders.back(), std::string(100, 'x'));
  }
  room.until([&] { return room.streams.count() == 10; });
  for (std::size_t i = 1; i <= 10; ++i) {
    room.settle();
    room.settle();
    EXPECT_EQ(room.refused.size(), i);
    EXPECT_FALSE(room.more);  // the loop can sleep until the next step
    if (i < 10) {
      EXPECT_EQ(room.streams.next_deadline(), room.now + milliseconds(2));
    }
    room.now = room.now + milliseconds(2);
  }
}

TEST(TlsStreams, WaitAtTheDoorWhileHandshakesWaitForTheirTurn) {
  StreamsOptions options;
  options.handshake_gap = milliseconds(2);
  options.handshakes_max = 3;
  TlsRoom room(options);
  std::vector<std::unique_ptr<Stream>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(room.knock());
    clients.back()->advance();
  }
  while (room.opened.size() < 10) {
    room.now = room.now + milliseconds(2);
    room.turn();
    EXPECT_LE(room.streams.count() - room.opened.size(), 3U);
    for (const auto& client : clients) client->advance();
  }
  EXPECT_THAT(room.refused, IsEmpty());
}

TEST(TlsStreams, APeerThatResetsIsForgotten) {
  TlsRoom room;
  auto client = room.come_in();
  const StreamId id = room.opened.at(0);
  const linger at_once{1, 0};
  ASSERT_EQ(::setsockopt(client->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  client.reset();
  room.until([&] { return room.broken.contains(id); });
  EXPECT_EQ(room.broken[id].code, Errc::closed);
  EXPECT_EQ(room.streams.count(), 0U);
}

TEST(TlsStreams, TheOwnerMayTakeOtherCertificatesWhileItListens) {
  TlsRoom room;
  const auto old = room.come_in();
  CertificateRequest other;
  other.alternative_names = "DNS:other.example,IP:127.0.0.1";
  room.parts.write("server", room.parts.authority.issue(other));
  room.server_context = open_server(room.parts.server_options());
  const auto fresh = room.come_in();
  EXPECT_EQ(old->peer().name, "node-1.example");
  EXPECT_EQ(fresh->peer().name, "other.example");
}

}  // namespace
}  // namespace peal::io
