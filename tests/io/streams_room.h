// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/loop.h"
#include "io/streams.h"
#include "temp_dir.h"

namespace peal::io {

/// A loop with streams. The time stands still until the test advances it. Reads all input, up to
/// `read_bytes` per call, and records the events.
class StreamsRoom : public StreamsHost, public LoopHost {
 public:
  explicit StreamsRoom(const StreamsOptions& options = {})
      : loop(std::move(*Loop::open({}))), streams(options, *loop, *this) {}

  void on_stream(StreamId id, const StreamPeer& peer) override {
    opened.push_back(id);
    peers[id] = peer;
    if (reads) streams.want_read(id, true);
  }
  void on_readable(StreamId id) override {
    served.push_back(id);
    std::vector<std::byte> buffer(read_bytes);
    const Transfer got = streams.read(id, buffer);
    inputs[id] += as_text(ByteView(buffer).first(got.bytes));
    if (got.outcome == StreamOutcome::end) ended.push_back(id);
    if (got.outcome == StreamOutcome::broken) {
      broken[id] = streams.error(id);
      streams.close(id);
    }
    if (after_read) after_read(id);
  }
  void on_writable(StreamId id) override {
    ++writable_calls;
    streams.want_write(id, false);
  }
  void on_broken(StreamId id, const IoError& why) override { broken[id] = why; }
  void on_refused(const StreamPeer&, const IoError& why) override { refused.push_back(why); }
  void on_exhausted(const IoError& why) override { exhausted.push_back(why.message); }
  bool make_place() override {
    ++place_wishes;
    if (worth_least == 0) return false;
    streams.close(std::exchange(worth_least, 0));
    return true;
  }

  void on_pause(Instant, Duration) override {}
  Progress on_sockets(const Turn&) override { return {more = streams.work(now), true}; }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant) override {}
  std::optional<Instant> next_deadline() const override {
    const auto next = streams.next_deadline();
    // The loop runs in real time. A deadline that is due in the test's time is due at once for the
    // loop. Other deadlines are hidden from the loop.
    return next && *next <= now ? next : std::nullopt;
  }

  /// Runs one turn without waiting for events.
  void turn() { loop->turn(*this, {}); }
  /// Runs turns until `done` is true. Each turn waits for events.
  void until(const std::function<bool()>& done) {
    while (!done()) loop->turn(*this, seconds(60));
  }
  void settle() {
    do turn();
    while (more);
  }
  Transfer write(StreamId id, std::string_view text) {
    const std::array<ByteView, 1> chunks{as_bytes_view(text)};
    return streams.write(id, chunks);
  }

  bool reads = true;  ///< asks to read each new stream
  std::size_t read_bytes = 4'096;
  std::function<void(StreamId)> after_read;
  StreamId worth_least = 0;  ///< the stream that make_place() closes; 0: none
  Instant now{1'000'000'000};
  bool more = false;

  std::vector<StreamId> opened, served, ended;
  std::map<StreamId, StreamPeer> peers;
  std::map<StreamId, std::string> inputs;
  std::map<StreamId, IoError> broken;
  std::vector<IoError> refused;
  int writable_calls = 0;
  int place_wishes = 0;
  std::vector<std::string> exhausted;

  std::unique_ptr<Loop> loop;
  Streams streams;
};

/// A StreamsRoom that listens at a Unix socket.
class UnixRoom : public StreamsRoom {
 public:
  explicit UnixRoom(const StreamsOptions& options = {}) : StreamsRoom(options) {
    auto listener = StreamListener::unix_socket(path(), 0600);
    EXPECT_TRUE(listener.has_value());
    EXPECT_TRUE(streams.listen(std::move(*listener)).has_value());
  }
  std::string path() const { return dir_ / "s"; }
  std::unique_ptr<Stream> knock() {
    auto fd = connect_unix(path());
    EXPECT_TRUE(fd.has_value());
    return make_plain_stream(std::move(*fd), {});
  }
  /// Opens a connection on both sides, and returns the client's side. The id of the connection is
  /// opened.back().
  std::unique_ptr<Stream> come_in() {
    const std::size_t before = opened.size();
    auto client = knock();
    until([&] { return opened.size() > before; });
    return client;
  }

 private:
  TempDir dir_;
};

inline Transfer say(Stream& stream, std::string_view text) {
  const std::array<ByteView, 1> chunks{as_bytes_view(text)};
  return stream.write(chunks);
}

inline std::string hear(Stream& stream, std::size_t limit = 65'536) {
  std::vector<std::byte> buffer(limit);
  const Transfer got = stream.read(buffer);
  return std::string(as_text(ByteView(buffer).first(got.bytes)));
}

inline StreamOutcome listen_to(Stream& stream) {
  std::vector<std::byte> buffer(65'536);
  return stream.read(buffer).outcome;
}

}  // namespace peal::io
