// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/loop.h"
#include "io/stream.h"
#include "io/stream_listener.h"

namespace peal::io {

/// Names one stream of a Streams object; never reused.
using StreamId = std::uint64_t;

/// Reports to the owner of streams. In these calls, the owner may call any function of Streams
/// except work().
class StreamsHost {
 public:
  virtual ~StreamsHost() = default;
  /// A client connected and, with TLS, authenticated. Reading and writing are off at first.
  virtual void on_stream(StreamId id, const StreamPeer& peer) = 0;
  /// Reading is wanted, and there may be bytes: call read() once.
  virtual void on_readable(StreamId id) = 0;
  /// Writing is wanted, and there may be room.
  virtual void on_writable(StreamId id) = 0;
  /// The stream broke while it sent what write() had taken. Its id is invalid from now on.
  virtual void on_broken(StreamId id, const IoError& why) = 0;
  /// A client was refused: its handshake failed, took too long or gave way to newer connections.
  virtual void on_refused(const StreamPeer& peer, const IoError& why) = 0;
  /// Connections are refused for want of descriptors. Called at most once a minute.
  virtual void on_exhausted(const IoError& /*why*/) {}
  /// All places are taken and another connection waits: close() a less important stream, or return
  /// false to refuse the new one.
  virtual bool make_place() = 0;
};

struct StreamsOptions {
  std::uint32_t streams_max = 4'096;   ///< in all, including those that are not open yet
  std::uint32_t handshakes_max = 256;  ///< at a time
  std::uint32_t accepts_per_turn = 16;
  /// Pause between two handshake steps, over all streams: a step costs up to a millisecond.
  Duration handshake_gap = milliseconds(2);
  std::uint32_t served_per_turn = 64;      ///< streams served
  std::size_t read_bytes_max = 64U << 10;  ///< read from one stream per turn
  std::size_t turn_bytes_max = 256U
                               << 10;  ///< read from all streams; a turn may exceed it by one read
  Duration handshake_patience = seconds(5);
  Duration linger = seconds(1);  ///< how long finish() waits for the other side
};

struct StreamsCounters {
  std::uint64_t accepted{};
  std::uint64_t opened{};             ///< accepted connections whose handshake succeeded
  std::uint64_t turned_away{};        ///< no place, or no descriptor
  std::uint64_t handshakes_failed{};  ///< including late ones
  std::uint64_t handshakes_late{};    ///< too slow, or replaced by newer ones
  std::uint64_t broken{};             ///< connections that broke while written bytes were sent
  std::uint64_t cut_off{};            ///< lingering streams removed before the other side ended
};

/// All client streams of one loop, served in rounds: each stream with work gets one turn before any
/// gets a second one, and one call of work() is bounded. So neither a thousand silent nor a
/// thousand busy connections delay the loop. Thread: the loop's.
class Streams {
 public:
  /// `loop` and `host` must outlive this object.
  Streams(const StreamsOptions& options, Loop& loop, StreamsHost& host);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Accepts connections from now on. Errors: system.
  Result<void, IoError> listen(std::unique_ptr<StreamListener> listener);
  /// Stops accepting connections, and removes the socket files.
  void stop_listening();

  /// Call it in each turn (LoopHost::on_sockets). True if there is more to do: do not sleep.
  bool work(Instant now);
  /// The latest time for the next work(). Ask after all other calls, before each sleep.
  std::optional<Instant> next_deadline() const;

  /// Switches on_readable and on_writable on and off. Leave off what is not needed: it costs turns.
  void want_read(StreamId id, bool wanted);
  void want_write(StreamId id, bool wanted);
  /// As in Stream. After `broken`, call close(). After `end`, nothing more is read.
  Transfer read(StreamId id, ByteSpan into);
  Transfer write(StreamId id, std::span<const ByteView> chunks);
  void attach(StreamId id, int fd) { open_entry(id).stream->attach(fd); }
  StreamOutcome finish_writing(StreamId id);
  /// Why read() or write() returned `broken`.
  const IoError& error(StreamId id) const;
  const StreamPeer& peer(StreamId id) const;
  /// False once the stream is closed, finished or broken.
  bool is_open(StreamId id) const;

  /// Ends the stream at once; unsent bytes are lost.
  void close(StreamId id);
  /// Ends the stream in order: sends the bytes that write() took and then the end. Discards what
  /// the other side sends until that side ends too, for at most StreamsOptions::linger. The owner
  /// must not use the id any more.
  void finish(StreamId id);

  std::size_t count() const { return entries_.size(); }
  const StreamsCounters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { handshake, open, lingering };
  struct Entry {
    std::unique_ptr<Stream> stream;
    Stage stage = Stage::handshake;
    bool readable = true;  ///< until a read finds nothing
    bool writable = true;
    bool wants_read = false;
    bool wants_write = false;
    bool queued = false;
    bool hung_up = false;  ///< the descriptor reported that the other side writes no more
    bool ended = false;    ///< there is nothing more to read
    Instant linger_end{};
  };
  struct Door {
    std::unique_ptr<StreamListener> listener;
    bool knocked = true;
  };

  Entry& open_entry(StreamId id);
  const Entry& open_entry(StreamId id) const;
  Entry* find(StreamId id);
  void on_events(StreamId id, std::uint32_t events);
  bool has_ready() const;
  bool is_shut(const Door& door) const;
  bool has_work(const Entry& entry) const;
  static void note_read(Entry& entry, const Transfer& got);
  void enqueue(StreamId id, Entry& entry);
  void accept_some();
  void tell_limit(int number);
  void take_in(std::unique_ptr<Stream> stream);
  bool has_place();
  void open(StreamId id, Entry& entry);
  void step_handshake();
  void serve(StreamId id);
  void serve_lingering(StreamId id, Entry& entry);
  void refuse(StreamId id, const IoError& why);
  void give_way();
  void end_handshake(const IoError& why);
  void linger(StreamId id, Entry& entry);
  void end_late();
  void remove(StreamId id);

  StreamsOptions options_;
  Loop& loop_;
  StreamsHost& host_;
  Instant now_{};
  std::vector<Door> doors_;
  std::optional<Instant> accept_again_;
  std::optional<Instant> limit_told_;
  Instant next_step_{};  ///< no handshake step before this time
  StreamId last_id_ = 0;
  std::unordered_map<StreamId, Entry> entries_;
  std::map<StreamId, Instant> handshakes_;  ///< the deadline of each; the oldest is first
  std::set<std::pair<Instant, StreamId>> lingering_;
  std::deque<StreamId> ready_;  ///< each at most once; may hold ids of streams that are gone
  std::deque<StreamId> ready_handshakes_;
  std::size_t bytes_left_ = 0;    ///< bytes that may still be read in this turn
  std::vector<std::byte> waste_;  ///< buffer for the discarded input of lingering streams
  StreamsCounters counters_;
};

}  // namespace peal::io
