// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/fabric/dialer.h"
#include "io/fabric/ends.h"
#include "io/fabric/offences.h"
#include "io/fabric/route.h"
#include "io/fabric/staged_writes.h"
#include "io/fabric/status.h"
#include "io/fabric/verbs.h"

namespace peal::io::fabric {

/// This process as a writer to one peer: the connection, and the writes that wait for it.
///
/// A write leaves at the end of its turn if there is a connection to the incarnation that it names.
/// It waits, for Limits::hold at most, while an attempt to connect is under way, or until the owner
/// has said which memory belongs to the region. It ends as down if
///   - the last attempt to connect failed, and the next one is not due yet;
///   - the connection ends before the write is answered;
///   - it has waited too long, or too much waits;
///   - a later incarnation of the peer is connected.
/// All writes to a peer end in the order of the calls.
class OutgoingLink {
 public:
  OutgoingLink(const Options& options, const Peer& peer, Counters& counters, Offences& offences,
               Ends& ends, VerbsUse& verbs)
      : options_(options),
        peer_(peer),
        counters_(counters),
        offences_(offences),
        ends_(ends),
        verbs_(verbs),
        dialer_(options, peer, counters, verbs) {}

  void attach(Loop& loop) { dialer_.attach(loop); }
  void write(const port::Place& place, ByteView bytes, std::uint64_t token);
  /// The turn has ended: writes may leave.
  void flush(Instant now);
  /// Reads what the owner says; connects. True if there is more to read.
  bool receive(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Writes have ended, as receive() will report. No system call.
  bool has_news() const { return route_ != nullptr && route_->has_news(); }
  /// The loop is about to sleep: from now on, news wakes it up.
  void arm() {
    if (route_ != nullptr) route_->arm();
  }
  /// The peer is there: it has connected to this process.
  void hint(Instant now) {
    if (channel_ == nullptr) dialer_.hurry(now);
  }
  /// The keys in the options have changed: a connection with one that is gone ends.
  void on_keys(Instant now);
  /// The peer's address in the options has changed.
  void on_address(Instant now);

  /// The fabric of the writes; none without a connection.
  Kind kind() const { return channel_ == nullptr ? Kind::none : channel_->kind(); }
  void fill(PeerStatus& out) const;

 private:
  static constexpr int kReadsPerTurn = 16;

  void open(Instant now, Dialer::Open opened);
  Result<std::unique_ptr<Route>, std::string> make_route(const Fd& bell);
  void take_frames();
  void end(Instant now);
  void pump(Instant now);
  bool is_held() const;
  bool settle(Instant now);
  void end_front();
  void end_all();

  const Options& options_;
  const Peer& peer_;
  Counters& counters_;
  Offences& offences_;
  Ends& ends_;
  VerbsUse& verbs_;
  Dialer dialer_;
  StagedWrites staged_;
  std::unique_ptr<Channel> channel_;  ///< null without a connection
  std::unique_ptr<Route> route_;
  MemberId owner_{};                  ///< of the connection
  std::optional<std::uint32_t> key_;  ///< of the connection
  bool waits_for_region_ = false;
  std::string ended_;  ///< why the last connection ended
  WriteCounters writes_;
};

}  // namespace peal::io::fabric
