// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "seal/key.h"
#include "seal/packet.h"
#include "seal/replay_window.h"

namespace peal::seal {

/// The kind of socket on which a packet arrived: the socket for tokens and control, or a data
/// socket. Multicast probes arrive on data sockets although they are sealed as control.
enum class Way : std::uint8_t { tokens, data };

/// The result of opening a packet.
struct Opened {
  Refusal reason = Refusal::none;
  Lane lane{};
  /// If the reason is `none`, this is the sender. If the reason is `own` or `old_incarnation` and
  /// the header is long, this is an incarnation that existed but need not have sent this packet.
  /// Otherwise zero.
  MemberId sender{};
  MemberId newest{};  ///< with `old_incarnation`: the newest known incarnation of the sending node
  std::uint32_t mark{};  ///< of an opened data packet: the sender's value of Sealer::set_mark()
  ByteSpan plain;        ///< the plain text within the packet; empty unless the reason is `none`
};

/// Opens packets that other nodes sealed. For each node it holds at most two incarnations, with
/// their subkeys and replay windows. The first is the newest incarnation from which it opened a
/// packet. The second is a newer incarnation from which it opened no packet yet. So senders without
/// a key increase neither the memory nor the work per packet. Allocates for the first packet of an
/// incarnation under a key, and once if two incarnations or keys have the same short tag. Other
/// packets cause no allocation. Thread: its owner's, for everything.
class Opener {
 public:
  /// Only the constructor reads `keys`. `cluster` must be the same number as in the Sealers.
  /// `senders` are the configured nodes, at most 65,535; `self` may be among them.
  Opener(const Keys& keys, std::uint64_t cluster, const MemberId& self,
         std::span<const NodeId> senders);

  /// From now on, opens packets of `senders` and of this node. Keeps the replay windows of nodes
  /// that stay, and of up to kGoneMax nodes that left, which may come back.
  void set_senders(std::span<const NodeId> senders);
  static constexpr std::size_t kGoneMax = 128;
  /// From now on, accepts only `keys`. Keeps the replay windows.
  void set_keys(const Keys& keys);
  /// Begins another incarnation of this node.
  void set_self(const MemberId& self) { self_ = self; }

  /// Checks `packet`, which may be any bytes, and decrypts it in place. If it refuses the packet,
  /// the packet's bytes are undefined.
  Opened open(ByteSpan packet, Way way = Way::tokens);

  /// The number of packets whose result was `reason`.
  std::uint64_t count(Refusal reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  /// The number of derived subkeys: at most one for each key and each incarnation that a holder of
  /// the key made.
  std::uint64_t derived() const { return derived_; }

 private:
  /// An incarnation whose incarnation tag was right.
  struct Session {
    struct UnderKey {
      std::uint64_t badge = 0;
      std::unique_ptr<GcmOpener> cipher;  ///< null until it is needed
    };
    bool known = false;
    Incarnation incarnation;
    std::array<UnderKey, kKeysMax> under;  ///< in the order of schedules_
    /// One window for each lane, and one for control packets from the data sockets. The data
    /// sockets are read at other times than the control socket: with a shared window, packets that
    /// wait in one socket would become too old because of packets from another socket.
    std::array<ReplayWindow, kLanes + 1> windows;
  };
  struct Slot {
    NodeId node{};
    bool gone = false;  ///< no longer one of the senders
    Session current;    ///< the newest incarnation of which a packet was opened
    Session next;       ///< a newer incarnation of which no packet was opened yet
  };

  /// An incarnation that may have made a packet, and a key that it may have used, as an index in
  /// schedules_.
  struct Candidate {
    Session* session = nullptr;
    std::size_t key = 0;
  };
  using Candidates = FixedVector<Candidate, 2 * kKeysMax>;

  Opened judge(ByteSpan packet, Way way);
  Slot* slot_of(NodeId node);
  std::size_t index_of(KeyId key) const;
  Refusal find_long(const Header& header, Slot& slot, Candidates& found, Opened& out);
  Refusal find_short(const Header& header, Slot& slot, Candidates& found) const;
  Refusal meet(const Header& header, std::size_t key, Slot& slot, Opened& out);
  Refusal try_all(const Header& header, ByteSpan packet, const Candidates& candidates,
                  std::size_t window, Session*& session);
  Refusal try_one(const Header& header, ByteSpan packet, const Candidate& candidate,
                  std::size_t window);
  static bool was_opened_otherwise(const Session& session, std::uint64_t counter,
                                   std::size_t window);
  void begin(Session& session, const Incarnation& incarnation);
  void rekey(Session& session, const std::vector<KeyId>& before);

  std::uint64_t cluster_;
  MemberId self_;
  std::vector<KeySchedule> schedules_;
  std::vector<Slot> slots_;  ///< sorted by node
  /// Copy of a packet with several candidates, for the attempts after the first.
  std::vector<std::byte> copy_;
  std::array<std::uint64_t, kRefusals> counts_{};
  std::uint64_t derived_ = 0;
};

}  // namespace peal::seal
