// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/engine.h"

// What the simulator knows of an engine besides its descriptor: the names of its packets, their
// content, and a ghost that checks what the engine's nodes send and log. Only the simulator builds
// this. An engine has its inspection in the subfolder `inspection` of its own folder;
// order/registry/inspection/ lists all inspections. An engine without an inspection is simulated
// too: its packets have no names, and only the oracle judges it.

namespace peal::order {

/// A kind of packet, as scenarios name it.
struct PacketName {
  std::uint8_t kind = 0;  ///< the byte of the header (wire/frames.h)
  std::string_view name;
  bool carries_units = false;
};

/// A packet of a kind that has a name. Its bytes may be damaged.
struct InspectedPacket {
  std::uint8_t kind = 0;
  ByteView bytes;
};

/// Facts that only the content of a packet shows. A fact is absent if the packet is damaged, or if
/// packets of its kind do not show the fact.
struct PacketContent {
  std::optional<Seq> position;              ///< of a unit, or of a proposed or decided value
  bool proposes_view = false;               ///< the packet proposes the members of the next view
  std::optional<std::uint64_t> told_votes;  ///< last instance for which the sender reports a vote
  std::optional<std::uint32_t> rotation;    ///< of a commit token: 1 or 2
  std::optional<bool> retransmission;       ///< of a unit
  std::optional<bool> post;                 ///< of a unit: sent after the token
};

/// Reports a violation: the broken property, and how it broke.
using GhostReport = std::function<void(std::string property, std::string text)>;

struct GhostSetup {
  std::uint64_t cluster = 0;  ///< cluster field of packets
  bool on_disk = false;       ///< acceptors have logs
  std::uint32_t ensembles = 1;
  std::uint32_t domains = 0;
  Seq first_count = 0;
};

/// Contents of the logs when nodes started.
struct LogFigures {
  std::uint64_t logs_read = 0;           ///< logs with records
  std::uint64_t logs_cut = 0;            ///< of those, logs whose beginning was discarded
  std::uint64_t votes_read = 0;          ///< votes in these logs
  std::uint64_t votes_needed = 0;        ///< of those, votes in instances that were not consumed
  std::uint64_t older_votes_needed = 0;  ///< of those, votes outside the newest segment
  std::uint64_t promises_read = 0;       ///< logs with a promise above the rounds of their votes
};

/// Observes what all nodes write to logs, send and hold, so a ghost knows more than any node. A
/// ghost finds at once errors that deliveries would show late or never: a new incarnation, for
/// example, delivers only from its first view on. A ghost reads records and packets only, and
/// nothing inside engines.
class Ghost {
 public:
  virtual ~Ghost() = default;

  virtual void sent(MemberId /*from*/, const InspectedPacket& /*packet*/) {}
  /// A packet reached a process.
  virtual void received(MemberId /*who*/, const InspectedPacket& /*packet*/) {}
  virtual void delivered(MemberId /*who*/, const Delivery& /*delivery*/) {}
  virtual void installed(MemberId /*who*/, const View& /*view*/) {}

  // What a node reads from its log and writes to it.
  /// `first`: first position of the newest segment. Called before the log is opened.
  virtual void note_newest_segment(NodeId /*node*/, LogPosition /*first*/) {}
  /// A process has opened the log with this id, and reads the log next. `put_back`: the log was
  /// replaced by an older copy.
  virtual void on_log_opened(MemberId /*self*/, std::uint64_t /*id*/, bool /*put_back*/) {}
  virtual void on_log_read(NodeId /*node*/, LogPosition /*position*/, ByteView /*record*/) {}
  /// The process has read all records, up to `last`.
  virtual void on_log_replayed(NodeId /*node*/, LogPosition /*last*/) {}
  virtual void on_log_appended(NodeId /*node*/, LogPosition /*position*/, ByteView /*first*/,
                               ByteView /*rest*/) {}
  /// The node appended a checkpoint, and needs nothing before `keep_from` any more.
  virtual void on_log_checkpoint(NodeId /*node*/, LogPosition /*keep_from*/) {}
  virtual void on_log_durable(NodeId /*node*/, LogPosition /*upto*/) {}

  virtual LogFigures figures() const { return {}; }
};

struct Inspection {
  std::string_view engine;  ///< the name in the engine's descriptor
  /// Engines may share kinds of packets; all engines have equal entries for one kind.
  std::span<const PacketName> packets{};
  PacketContent (*content)(const InspectedPacket& packet) = nullptr;
  /// The text that transcripts add after the packet's kind: " seq=5"; null if transcripts add none.
  std::string (*text)(const InspectedPacket& packet) = nullptr;
  std::unique_ptr<Ghost> (*make_ghost)(const GhostSetup& setup,
                                       const GhostReport& report) = nullptr;
};

}  // namespace peal::order
