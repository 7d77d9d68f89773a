// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/regions.h"
#include "io/loop.h"
#include "io/streams.h"
#include "session/sessions.h"

namespace peal::daemon {

/// Carries bytes between the streams of clients and their sessions. A stream whose bytes a session
/// does not take now is not read, so that its client waits; one that does not take what it is sent
/// is written to when it does. Thread: the loop's.
class Connections final : private io::StreamsHost {
 public:
  using Refused = std::function<void(const std::string& who, const io::IoError& why)>;

  /// All references outlive this.
  Connections(const io::StreamsOptions& options, io::Loop& loop, session::Sessions& sessions,
              const Regions& regions, Refused refused);

  /// Takes connections from now on. Errors: system.
  Result<void, io::IoError> listen(std::unique_ptr<io::StreamListener> listener) {
    return streams_.listen(std::move(listener));
  }
  void stop_listening() { streams_.stop_listening(); }
  /// Takes nothing from anybody any more; writing goes on.
  void stop_reading();

  /// Reads and writes what is due; in each turn. True: there is more to do.
  bool work(Instant now);
  /// Does what the sessions want of their connections. True: there is more to do.
  bool carry_out(Instant now);
  std::optional<Instant> next_deadline() const { return streams_.next_deadline(); }

  /// Connections that are there, or on their way in or out.
  std::size_t count() const { return streams_.count(); }
  const io::StreamsCounters& counters() const { return streams_.counters(); }

 private:
  struct Connection {
    std::vector<std::byte> rest;  ///< read, and not taken by the sessions
    bool ended = false;           ///< nothing comes behind `rest`
    bool writing = false;         ///< waits for room in the stream
    bool due = false;             ///< is in `to_write_`
    bool silent = true;           ///< has not said anything yet
    bool greeted = false;         ///< something was to be written to it
  };

  // io::StreamsHost
  void on_stream(io::StreamId id, const io::StreamPeer& peer) override;
  void on_readable(io::StreamId id) override;
  void on_writable(io::StreamId id) override;
  void on_broken(io::StreamId id, const io::IoError& why) override;
  void on_refused(const io::StreamPeer& peer, const io::IoError& why) override;
  void on_exhausted(const io::IoError& why) override;
  bool make_place() override;

  void take(io::StreamId id, Connection& connection, ByteView bytes);
  void take_rest(io::StreamId id);
  /// Returns the bytes that the stream took.
  std::size_t write(io::StreamId id);
  /// The other end is gone.
  void lose(io::StreamId id);
  void forget(io::StreamId id);

  session::Sessions& sessions_;
  const Regions& regions_;
  Refused refused_;
  io::Streams streams_;
  Instant now_{};
  bool reading_ = true;
  std::map<io::StreamId, Connection> connections_;
  std::set<io::StreamId> silent_;  ///< the first is the one that came first
  std::vector<std::byte> buffer_;  ///< what was read last
  session::Wanted wanted_;         ///< scratch
  std::deque<io::StreamId> to_write_;
};

}  // namespace peal::daemon
