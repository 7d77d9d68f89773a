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

/// Names a stream of a Streams; never used twice.
using StreamId = std::uint64_t;

/// What the owner of streams is told. It may call anything of Streams but work() from here.
class StreamsHost {
 public:
  virtual ~StreamsHost() = default;
  /// Somebody connected and, with TLS, proved who it is. Nothing is wanted of the stream yet.
  virtual void on_stream(StreamId id, const StreamPeer& peer) = 0;
  /// Reading is wanted, and there may be something: call read() once.
  virtual void on_readable(StreamId id) = 0;
  /// Writing is wanted, and there may be room.
  virtual void on_writable(StreamId id) = 0;
  /// The stream broke while it sent what write() had taken; its id means nothing any more.
  virtual void on_broken(StreamId id, const IoError& why) = 0;
  /// Somebody did not come in: the handshake failed or took too long.
  virtual void on_refused(const StreamPeer& peer, const IoError& why) = 0;
  /// Connections are turned away: there are no descriptors for them. Not for each.
  virtual void on_exhausted(const IoError& /*why*/) {}
  /// All places are taken, and somebody is at the door: close() a stream that is worth less than a
  /// new one, or return false to turn it away.
  virtual bool make_place() = 0;
};

struct StreamsOptions {
  std::uint32_t streams_max = 4'096;   ///< in sum, also those that are not open yet
  std::uint32_t handshakes_max = 256;  ///< at a time
  std::uint32_t accepts_per_turn = 16;
  /// From one step of a handshake to the next, of all streams: a step costs up to a millisecond.
  Duration handshake_gap = milliseconds(2);
  std::uint32_t served_per_turn = 64;      ///< streams
  std::size_t read_bytes_max = 64U << 10;  ///< of one stream per turn
  std::size_t turn_bytes_max = 256U
                               << 10;  ///< read from all streams; a turn may end one read later
  Duration handshake_patience = seconds(5);
  Duration linger = seconds(1);  ///< how long finish() waits for the other side
};

struct StreamsCounters {
  std::uint64_t accepted{};
  std::uint64_t opened{};             ///< of these, those that came in
  std::uint64_t turned_away{};        ///< no place, or no descriptor
  std::uint64_t handshakes_failed{};  ///< too late ones included
  std::uint64_t handshakes_late{};    ///< too slow, or gave way to others
  std::uint64_t broken{};             ///< while sending what had been taken
  std::uint64_t cut_off{};            ///< ended by finish(), whose peer did not end in time
};

/// All client streams of one loop, served in rounds: each that has something to do gets one turn
/// before any gets a second, and the work of one work() is bounded, so that neither a thousand
/// silent nor a thousand busy connections hold up the loop. Thread: the loop's.
class Streams {
 public:
  /// `loop` and `host` must outlive this.
  Streams(const StreamsOptions& options, Loop& loop, StreamsHost& host);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Takes connections from now on. Errors: system.
  Result<void, IoError> listen(std::unique_ptr<StreamListener> listener);
  /// Takes no more connections, and removes the socket files.
  void stop_listening();

  /// Call it in each turn (LoopHost::on_sockets). True: there is more to do, do not sleep.
  bool work(Instant now);
  /// When work() wants to be called at the latest. Ask after all other calls, before each sleep.
  std::optional<Instant> next_deadline() const;

  /// Switches on_readable and on_writable on and off. Leave off what is not needed: it costs turns.
  void want_read(StreamId id, bool wanted);
  void want_write(StreamId id, bool wanted);
  /// As those of Stream. After `broken`, call close(). After `end`, nothing is read any more.
  Transfer read(StreamId id, ByteSpan into);
  Transfer write(StreamId id, std::span<const ByteView> chunks);
  void attach(StreamId id, int fd) { open_entry(id).stream->attach(fd); }
  StreamOutcome finish_writing(StreamId id);
  /// Why read() or write() said `broken`.
  const IoError& error(StreamId id) const;
  const StreamPeer& peer(StreamId id) const;
  /// False once it is closed, finished or broken.
  bool is_open(StreamId id) const;

  /// Ends it at once; what was not sent is lost.
  void close(StreamId id);
  /// Ends it politely: what write() took is sent, the other side sees the end, and what it says
  /// still is read and thrown away until it ends too, for `linger` at most. The id means nothing
  /// to the owner any more.
  void finish(StreamId id);

  std::size_t count() const { return entries_.size(); }
  const StreamsCounters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { handshake, open, lingering };
  struct Entry {
    std::unique_ptr<Stream> stream;
    Stage stage = Stage::handshake;
    bool readable = true;  ///< until a read says otherwise
    bool writable = true;
    bool wants_read = false;
    bool wants_write = false;
    bool queued = false;
    bool hung_up = false;  ///< the other side will write no more; the descriptor said it already
    bool ended = false;    ///< nothing more to read
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
  Instant next_step_{};  ///< of a handshake, not before
  StreamId last_id_ = 0;
  std::unordered_map<StreamId, Entry> entries_;
  std::map<StreamId, Instant> handshakes_;  ///< and their ends; the oldest is the first
  std::set<std::pair<Instant, StreamId>> lingering_;
  std::deque<StreamId> ready_;  ///< each at most once; ids of streams that are gone may be in it
  std::deque<StreamId> ready_handshakes_;
  std::size_t bytes_left_ = 0;    ///< to read in this turn
  std::vector<std::byte> waste_;  ///< where lingering streams are read to
  StreamsCounters counters_;
};

}  // namespace peal::io
