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

/// Identifies one stream of a Streams object. An id is never used again.
using StreamId = std::uint64_t;

/// Calls from Streams to its owner. In these calls, the owner may call any function of Streams
/// except work().
class StreamsHost {
 public:
  virtual ~StreamsHost() = default;
  /// A client connected and, with TLS, its handshake succeeded. want_read() and want_write() are
  /// off at first.
  virtual void on_stream(StreamId id, const StreamPeer& peer) = 0;
  /// want_read() is on, and bytes may have arrived: call read() once.
  virtual void on_readable(StreamId id) = 0;
  /// want_write() is on, and write() may be able to take bytes.
  virtual void on_writable(StreamId id) = 0;
  /// The stream broke while it sent bytes that write() had taken. Its id is invalid from now on.
  virtual void on_broken(StreamId id, const IoError& why) = 0;
  /// A client was refused: its handshake failed, took too long, or was ended in favour of newer
  /// connections.
  virtual void on_refused(const StreamPeer& peer, const IoError& why) = 0;
  /// Connections are refused because no descriptors are left. Called at most once a minute.
  virtual void on_exhausted(const IoError& /*why*/) {}
  /// There are streams_max streams, and another connection waits. Either close() a less important
  /// stream, or return false to refuse the new connection.
  virtual bool make_place() = 0;
};

struct StreamsOptions {
  std::uint32_t streams_max = 4'096;   ///< all streams, including those that are not open
  std::uint32_t handshakes_max = 256;  ///< handshakes at a time
  std::uint32_t accepts_per_turn = 16;
  /// Pause between two handshake steps of any streams, because a step takes up to a millisecond.
  Duration handshake_gap = milliseconds(2);
  std::uint32_t served_per_turn = 64;      ///< number of streams
  std::size_t read_bytes_max = 64U << 10;  ///< read from one stream per turn
  /// Bytes read from all streams per turn; the last read may exceed this limit.
  std::size_t turn_bytes_max = 256U << 10;
  Duration handshake_patience = seconds(5);
  Duration linger = seconds(1);  ///< how long finish() waits for the other side's end
};

struct StreamsCounters {
  std::uint64_t accepted{};
  std::uint64_t opened{};             ///< accepted connections whose handshake succeeded
  std::uint64_t turned_away{};        ///< refused: no place, no descriptor, or an unknown user
  std::uint64_t handshakes_failed{};  ///< including handshakes_late
  std::uint64_t handshakes_late{};    ///< too slow, or ended in favour of newer ones
  std::uint64_t broken{};             ///< connections that broke while written bytes were sent
  std::uint64_t cut_off{};            ///< lingering streams removed before the other side ended
};

/// All client streams of one loop. They are served in rounds: each stream with work gets one turn
/// before any stream gets a second turn. One call of work() is bounded. So neither a thousand
/// silent nor a thousand busy connections delay the loop. Thread: the loop's.
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

  /// Call it in each turn (LoopHost::on_sockets). If it returns true, there is more to do: do not
  /// sleep.
  bool work(Instant now);
  /// The latest time for the next work(). Call next_deadline() after all other calls, before each
  /// sleep.
  std::optional<Instant> next_deadline() const;

  /// Switches calls of on_readable and on_writable on and off. Switch off calls that are not
  /// needed, because they cost turns.
  void want_read(StreamId id, bool wanted);
  void want_write(StreamId id, bool wanted);
  /// As Stream::read() and Stream::write(). After `broken`, call close(). After `end`, read()
  /// returns no more bytes.
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
  /// Ends the stream in order: sends the bytes that write() took, and then the end of the stream.
  /// Discards bytes from the other side until the other side ends too, for at most
  /// StreamsOptions::linger. The owner must not use the id any more.
  void finish(StreamId id);

  std::size_t count() const { return entries_.size(); }
  const StreamsCounters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { handshake, open, lingering };
  struct Entry {
    std::unique_ptr<Stream> stream;
    Stage stage = Stage::handshake;
    bool readable = true;  ///< false after a read found no more bytes
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
  /// The deadline of each handshake; the oldest handshake is first.
  std::map<StreamId, Instant> handshakes_;
  std::set<std::pair<Instant, StreamId>> lingering_;
  /// Each id at most once; some of these streams may be removed already.
  std::deque<StreamId> ready_;
  std::deque<StreamId> ready_handshakes_;
  std::size_t bytes_left_ = 0;    ///< bytes that may still be read in this turn
  std::vector<std::byte> waste_;  ///< buffer for the discarded input of lingering streams
  StreamsCounters counters_;
};

}  // namespace peal::io
