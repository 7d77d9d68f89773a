// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/fabric/channel.h"
#include "io/fabric/hello.h"
#include "io/fabric/status.h"
#include "io/fabric/verbs.h"

namespace peal::io::fabric {

/// Connects to one peer as a writer: by the first of shm, verbs and tcp by which the peer can be
/// reached. Thread: the loop's.
class Dialer {
 public:
  struct Open {
    std::unique_ptr<Channel> channel;
    MemberId owner{};
    Fd bell;                           ///< shm: the page of the bell
    std::optional<std::uint32_t> key;  ///< the id of the key that seals it
  };

  /// The arguments must outlive this object.
  Dialer(const Options& options, const Peer& peer, Counters& counters, const VerbsUse& verbs)
      : options_(options),
        peer_(peer),
        counters_(counters),
        verbs_(verbs),
        retry_(options.limits.retry_first) {}

  void attach(Loop& loop) { loop_ = &loop; }
  /// An attempt is under way.
  bool is_busy() const { return channel_ != nullptr; }
  /// Attempts to connect now, unless the last attempt was less than Limits::retry_first ago. True
  /// if an attempt is under way then.
  bool hurry(Instant now);
  /// Continues the attempt, or begins the next one if it is due. Returns the open connection once.
  std::optional<Open> work(Instant now);
  /// When to call work() without another reason.
  std::optional<Instant> next_deadline() const;
  /// The connection that work() returned has ended. `not_verbs`: why the next one is not to be by
  /// verbs; empty if it may be.
  void note_end(Instant now, std::string not_verbs);
  /// Gives up the attempt that is under way: keys or addresses have changed.
  void restart(Instant now);

  /// Why there is no connection, or why it is tcp: a line, or empty.
  const std::string& problem() const { return problem_; }

 private:
  enum class Step : std::uint8_t { connecting, hello_sent, ready_sent };

  void begin(Instant now);
  Result<void, std::string> try_shm(Instant now);
  void try_stream(Instant now);
  bool may_use_verbs() const;
  void start(Instant now, Fd fd, StreamPeer peer, Kind kind);
  void say_hello();
  void on_frame(Instant now, ByteView frame);
  void on_answer(Instant now, ByteView frame);
  void fail(Instant now, const std::string& line);
  void pause(Instant now, const std::string& line);
  std::string at_peer(Kind kind, const std::string& why) const;
  std::string where(Kind kind) const;

  const Options& options_;
  const Peer& peer_;
  Counters& counters_;
  const VerbsUse& verbs_;
  Loop* loop_ = nullptr;
  std::unique_ptr<Channel> channel_;  ///< null between attempts
  Step step_ = Step::connecting;
  Hello hello_;
  std::array<std::byte, kHelloBytes> hello_bytes_{};
  std::optional<Welcome> welcome_;
  std::optional<Open> open_;
  bool is_idle_ = false;  ///< the connection is open
  Instant tried_at_{};
  bool has_tried_ = false;
  Instant deadline_{};  ///< of the attempt
  Instant retry_at_{};
  Duration retry_;
  std::string not_shm_;    ///< why this attempt is not, or was not, by shm
  std::string not_verbs_;  ///< the same of verbs, if this peer or its connection is the reason
  std::string problem_;
};

}  // namespace peal::io::fabric
