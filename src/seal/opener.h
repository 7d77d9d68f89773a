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

/// Which sockets a packet came by: those of tokens and control, or those of data, as probes do too,
/// which are sealed as control.
enum class Way : std::uint8_t { tokens, data };

/// What became of a packet.
struct Opened {
  Refusal reason = Refusal::none;
  Lane lane{};
  /// Whose packet it is, if the reason is none. If it is `own` or `old_incarnation` in a long
  /// header, an incarnation that existed, though perhaps it is not who sent this; else zero.
  MemberId sender{};
  MemberId newest{};  ///< with `old_incarnation` and a sender: which incarnation it is older than
  std::uint32_t mark{};  ///< of data, if the reason is none: what Sealer::set_mark() gave it
  ByteSpan plain;        ///< where it lies in the packet; empty unless the reason is none
};

/// Opens what other nodes sealed. Holds for each node the newest incarnation that has shown itself,
/// its subkeys and its replay windows: memory and work do not grow with what strangers send.
/// Nothing is allocated per packet, but for the first of an incarnation under a key, and, once, if
/// two incarnations or keys have a short badge in common. Thread: its owner's, for everything.
class Opener {
 public:
  /// `keys` are only read here; `cluster` is that of the Sealers; `senders` are the configured
  /// nodes, at most 65,535; `self` may be among them.
  Opener(const Keys& keys, std::uint64_t cluster, const MemberId& self,
         std::span<const NodeId> senders);

  /// Opens packets of these nodes from now on, and of this one. What was opened of those that stay
  /// is remembered, and for a while also of those that go, which may come back: up to kGoneMax.
  void set_senders(std::span<const NodeId> senders);
  static constexpr std::size_t kGoneMax = 128;
  /// Accepts these keys from now on. What was opened is remembered.
  void set_keys(const Keys& keys);
  /// This node begins another incarnation.
  void set_self(const MemberId& self) { self_ = self; }

  /// Checks a packet, any bytes, and decrypts it where it lies. If it is refused, its bytes are
  /// worth nothing any more.
  Opened open(ByteSpan packet, Way way = Way::tokens);

  /// How many packets had this result.
  std::uint64_t count(Refusal reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  /// How many subkeys were derived: at most one for each incarnation, really made by somebody with
  /// the key, and each key.
  std::uint64_t derived() const { return derived_; }

 private:
  /// An incarnation of which a badge was right.
  struct Session {
    struct UnderKey {
      std::uint64_t badge = 0;
      std::unique_ptr<GcmOpener> cipher;  ///< null until it is needed
    };
    bool known = false;
    Incarnation incarnation;
    std::array<UnderKey, kKeysMax> under;  ///< in the order of schedules_
    /// Of each lane; and of control that came with data. Its sockets are read at other times, and
    /// one window for both would take what waits in the one for too old because of the other.
    std::array<ReplayWindow, kLanes + 1> windows;
  };
  struct Slot {
    NodeId node{};
    bool gone = false;  ///< not one of the senders any more
    Session current;    ///< a packet of it was opened
    Session next;       ///< newer, and nothing of it was opened yet
  };

  /// Who may have made a packet, and with which of schedules_.
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
  std::vector<Slot> slots_;      ///< sorted by node
  std::vector<std::byte> copy_;  ///< of a packet with several candidates, for the second and later
  std::array<std::uint64_t, kRefusals> counts_{};
  std::uint64_t derived_ = 0;
};

}  // namespace peal::seal
