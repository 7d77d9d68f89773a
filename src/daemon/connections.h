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

/// Carries bytes between the streams of clients and their sessions. While a session does not accept
/// bytes, the client's stream is not read, so that the client waits. Writing to a full stream
/// resumes when the stream has space. Thread: the loop's.
class Connections final : private io::StreamsHost {
 public:
  using Refused = std::function<void(const std::string& who, const io::IoError& why)>;

  /// All references must outlive this object.
  Connections(const io::StreamsOptions& options, io::Loop& loop, session::Sessions& sessions,
              const Regions& regions, Refused refused);

  /// Accepts connections from now on. Errors: system.
  Result<void, io::IoError> listen(std::unique_ptr<io::StreamListener> listener) {
    return streams_.listen(std::move(listener));
  }
  void stop_listening() { streams_.stop_listening(); }
  /// Stops reading from all clients; writing continues.
  void stop_reading();

  /// Reads and writes the streams that are ready; call it in each turn. Returns true if more work
  /// is left.
  bool work(Instant now);
  /// Carries out the sessions' requests for their connections (session::Wanted). Returns true if
  /// more work is left.
  bool carry_out(Instant now);
  std::optional<Instant> next_deadline() const { return streams_.next_deadline(); }

  /// Connections that are open, opening or closing.
  std::size_t count() const { return streams_.count(); }
  const io::StreamsCounters& counters() const { return streams_.counters(); }

 private:
  struct Connection {
    std::vector<std::byte> rest;  ///< bytes read that the session has not accepted
    bool ended = false;           ///< the client sends nothing after `rest`
    bool writing = false;         ///< waits until the stream is writable
    bool due = false;             ///< the connection is in `to_write_`
    bool silent = true;           ///< the client has not sent anything yet
    bool greeted = false;         ///< the session had bytes for the client
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
  /// Returns the number of bytes that the stream accepted.
  std::size_t write(io::StreamId id);
  /// Closes the stream, and reports to the sessions that the connection is gone.
  void lose(io::StreamId id);
  void forget(io::StreamId id);

  session::Sessions& sessions_;
  const Regions& regions_;
  Refused refused_;
  io::Streams streams_;
  Instant now_{};
  bool reading_ = true;
  std::map<io::StreamId, Connection> connections_;
  std::set<io::StreamId> silent_;  ///< connections that have not sent anything yet, oldest first
  std::vector<std::byte> buffer_;  ///< the bytes of the last read
  session::Wanted wanted_;         ///< scratch
  std::deque<io::StreamId> to_write_;
};

}  // namespace peal::daemon
