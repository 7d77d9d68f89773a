// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "io/peers.h"

namespace peal::io {

/// The frames with which a node finds out which peers its multicast reaches. A frame has these
/// little-endian integers: magic u16, version u8, kind u8, cluster u64, sender u32, nonce u64, and
/// CRC-32C u32 of the 24 bytes before the CRC.
struct ProbeMessage {
  enum class Kind : std::uint8_t {
    hello = 1,  ///< by multicast: each receiver answers with an ack
    ack = 2,    ///< by unicast: answers a hello and repeats its nonce
  };
  static constexpr std::uint16_t kMagic = 0x4d50;  // "PM"
  static constexpr std::uint8_t kVersion = 1;
  static constexpr std::size_t kBytes = 28;

  Kind kind{};
  std::uint64_t cluster{};
  NodeId sender{};
  std::uint64_t nonce{};

  friend bool operator==(const ProbeMessage&, const ProbeMessage&) = default;
};
using ProbeBytes = std::array<std::byte, ProbeMessage::kBytes>;

/// True if `datagram`, which may be any bytes, starts like a probe.
bool looks_like_probe(ByteView datagram);
ProbeBytes encode_probe(const ProbeMessage& message);
/// Nothing unless the bytes are exactly one well-formed probe.
std::optional<ProbeMessage> decode_probe(ByteView datagram);

/// Finds out repeatedly which peers this node's multicast reaches. A peer counts as reached once it
/// answered kAnswersMin hellos in a row. It no longer counts as reached once it left kMissesMax
/// hellos in a row unanswered. So the probe detects an outage and its end, and tolerates a few lost
/// probes. Hellos are frequent at the start, after a change, and while data is sent. Otherwise they
/// are rarer; they are rarest while all peers are reached. Makes no system calls. Only the
/// constructor and move_peers() allocate.
class MulticastProbe {
 public:
  static constexpr Duration kStartInterval = milliseconds(60);  ///< between the first few hellos
  static constexpr Duration kInterval = milliseconds(200);
  static constexpr Duration kIdleInterval = seconds(1);
  static constexpr Duration kSteadyInterval = seconds(5);  ///< no data, and all peers are reached
  static constexpr Duration kAckInterval = milliseconds(50);  ///< between acks to one peer
  static constexpr int kMissesMax = 7;
  static constexpr int kAnswersMin = 2;

  MulticastProbe(std::size_t peers, std::uint64_t cluster, NodeId self, std::uint64_t seed);

  /// Starts the hellos at `now`. Do not call it without a multicast group.
  void start(Instant now);
  std::optional<Instant> next_deadline() const { return next_hello_; }
  /// The hello to multicast now, if one is due. After the call, peers that left too many hellos
  /// unanswered do not count as reached; see take_changed().
  std::optional<ProbeMessage> on_timer(Instant now);
  /// Call it when data is sent. Hellos are then frequent for a while, so that an outage is detected
  /// soon.
  void note_traffic(Instant now);

  enum class Outcome { bad, ignored, answer, accepted };
  /// A hello from `peer`, whose node id is `node`, arrived by multicast. Returns `answer` (send
  /// `ack` back), `ignored` (the peer asks too often) or `bad` (not a hello of that node).
  Outcome on_hello(Instant now, PeerIndex peer, NodeId node, const ProbeMessage& hello,
                   ProbeMessage& ack);
  /// An ack from `peer` arrived by unicast. Returns `accepted` or `bad`.
  Outcome on_ack(Instant now, PeerIndex peer, NodeId node, const ProbeMessage& ack);

  /// Resets the state of the peer. Call it when the peer's address has changed.
  void forget(Instant now, PeerIndex peer);

  /// Call it when the peers have new indexes (`map`); `peers` is the new number of peers. Keeps the
  /// state of the peers that stay.
  void move_peers(Instant now, const PeerMap& map, std::size_t peers);

  bool reached(PeerIndex peer) const { return peers_[peer].reached; }
  /// True once after the set of reached peers changed.
  bool take_changed();

 private:
  static constexpr std::size_t kNoncesKept = 4;
  static constexpr int kStartHellos = 5;

  struct Peer {
    bool reached = false;
    bool answered = false;         ///< the peer answered the latest hello
    int answers = 0;               ///< answers in a row
    int misses = 0;                ///< unanswered hellos in a row
    std::optional<Instant> acked;  ///< when this node last sent an ack to the peer
  };
  void settle_answers(Instant now);
  void hurry(Instant now);

  std::vector<Peer> peers_;
  std::uint64_t cluster_;
  NodeId self_;
  Random random_;
  std::array<std::uint64_t, kNoncesKept> nonces_{};
  std::size_t nonce_count_ = 0;
  std::optional<Instant> next_hello_;
  Instant last_hello_{};
  int start_hellos_ = 0;            ///< number of hellos still to be sent at kStartInterval
  Instant busy_until_{};            ///< hellos are frequent until this time
  std::optional<Instant> hurried_;  ///< start of the last burst of frequent hellos
  bool changed_ = false;
};

}  // namespace peal::io
