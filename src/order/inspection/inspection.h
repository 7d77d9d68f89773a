// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/domain_set.h"
#include "base/ids.h"
#include "order/engine.h"
#include "order/setup.h"

// What the simulator knows of an engine besides the engine's descriptor: the names of its packets,
// the content of its packets, and a ghost. The ghost checks the packets and the log records of the
// engine's nodes. Only simulator builds contain inspections. An engine's inspection is in the
// subfolder `inspection` of the engine's folder; order/registry/inspection/ lists all inspections.
// The simulator also runs an engine without an inspection. Then the packets have no names, and only
// the oracle checks the engine.

namespace peal::order {

/// A kind of packet, and the name of this kind in scenarios.
struct PacketName {
  std::uint8_t kind = 0;  ///< the kind byte of the packet's header (wire/frames.h)
  std::string_view name;
  bool carries_units = false;
};

/// A packet whose kind has a name. The packet's bytes may be damaged.
struct InspectedPacket {
  std::uint8_t kind = 0;
  ByteView bytes;
};

/// The text of the frame in a packet. `Drop` is the type of the decoders' results.
template <class Frame, class Drop>
std::string text_in(const InspectedPacket& packet, Drop (*decode)(ByteView, Frame&),
                    std::string (*text)(const Frame&)) {
  Frame frame;
  return decode(packet.bytes, frame) == Drop::none ? text(frame) : " damaged";
}

/// Facts that only the content of a packet shows. A fact is absent if the packet is damaged, or if
/// packets of its kind do not show the fact.
struct PacketContent {
  std::optional<Seq> position;  ///< of a unit, or of a proposed or decided value
  bool proposes_view = false;   ///< the packet proposes the members of the next view
  bool takes_over = false;      ///< genuine multicast: the packet belongs to a change of the leader
  std::optional<std::uint64_t> told_votes;  ///< last instance for which the sender reports a vote
  std::optional<std::uint32_t> rotation;    ///< rotation of a commit token: 1 or 2
  std::optional<bool> retransmission;       ///< true if the packet retransmits a unit
  std::optional<bool> post;                 ///< true if the unit was sent after the token
};

/// A unit, by its sender and its number: the sender's incarnation took it from its host as the
/// unit with this number, counted from 1. Number 0 stands for a unit of this sender that the bytes
/// do not name; sender 0 for a unit of any sender.
struct UnitName {
  MemberId sender{};
  std::uint64_t number = 0;
  /// If not 0, `number` counts only the sender's units to this domain.
  DomainId counted_in = 0;
  friend auto operator<=>(const UnitName&, const UnitName&) = default;
};

/// Reports a violation of `property`; `text` describes the violation.
using GhostReport = std::function<void(std::string property, std::string text)>;

struct GhostSetup {
  std::uint64_t cluster = 0;  ///< cluster field of packets
  bool on_disk = false;       ///< acceptors have logs
  std::uint32_t ensembles = 1;
  std::uint32_t domains = 0;
  Seq first_count = 0;
};

/// Counts of what nodes read from their logs when they started.
struct LogFigures {
  std::uint64_t logs_read = 0;           ///< logs with records
  std::uint64_t logs_cut = 0;            ///< logs with records whose beginning was discarded
  std::uint64_t votes_read = 0;          ///< votes in the logs
  std::uint64_t votes_needed = 0;        ///< votes in instances that were not consumed
  std::uint64_t older_votes_needed = 0;  ///< of votes_needed: votes outside the newest segment
  std::uint64_t promises_read = 0;       ///< logs with a promise for a round above all their votes
};

/// Observes the packets, log records, deliveries and views of all nodes, so a ghost knows more than
/// any single node. Deliveries alone would show some errors late or never; a ghost detects them at
/// once. For example, a new incarnation delivers nothing before its first view, so its deliveries
/// do not show what it lost. A ghost never reads the state inside an engine.
class Ghost {
 public:
  virtual ~Ghost() = default;

  virtual void sent(MemberId /*from*/, const InspectedPacket& /*packet*/) {}
  /// A packet reached a process.
  virtual void received(MemberId /*who*/, const InspectedPacket& /*packet*/) {}
  virtual void delivered(MemberId /*who*/, const Delivery& /*delivery*/) {}
  virtual void installed(MemberId /*who*/, const View& /*view*/) {}

  // A node's operations on its log.
  /// `first`: first position of the newest segment. Called before the log is opened.
  virtual void note_newest_segment(NodeId /*node*/, LogPosition /*first*/) {}
  /// A process has opened the log with this id, and will read the log next. `put_back`: an older
  /// copy replaced the log.
  virtual void on_log_opened(MemberId /*self*/, std::uint64_t /*id*/, bool /*put_back*/) {}
  virtual void on_log_read(NodeId /*node*/, LogPosition /*position*/, ByteView /*record*/) {}
  /// The node's process has read all records of the log; `last` is the last record's position.
  virtual void on_log_replayed(NodeId /*node*/, LogPosition /*last*/) {}
  virtual void on_log_appended(NodeId /*node*/, LogPosition /*position*/, ByteView /*first*/,
                               ByteView /*rest*/) {}
  /// The node appended a checkpoint. It no longer needs the records before `keep_from`.
  virtual void on_log_checkpoint(NodeId /*node*/, LogPosition /*keep_from*/) {}
  virtual void on_log_durable(NodeId /*node*/, LogPosition /*upto*/) {}

  virtual LogFigures figures() const { return {}; }
};

/// A write into the memory of another node (port::Memory).
struct InspectedWrite {
  MemberId writer{};
  MemberId owner{};
  std::uint8_t region = 0;
  std::uint64_t offset = 0;
  ByteView bytes;
};

/// What an inspection needs to know of the cluster.
struct ClusterShape {
  std::vector<NodeId> nodes;  ///< sorted
  /// Element i: the nodes of domain i + 1. Without domains, all nodes are domain 1.
  std::vector<std::vector<NodeId>> domains;
  OptionValues options;
};

struct Inspection {
  std::string_view engine;  ///< the name in the engine's descriptor
  /// Several engines may use one kind of packet. Then their entries for this kind are equal.
  std::span<const PacketName> packets{};
  PacketContent (*content)(const InspectedPacket& packet) = nullptr;
  /// Returns the text that transcripts add after the name of the packet's kind, such as " seq=5".
  /// Null if transcripts add no text.
  std::string (*text)(const InspectedPacket& packet) = nullptr;
  /// With Traits::genuine: adds the units that the packet speaks of to `out`: their contents, their
  /// stamps, votes and places, or questions about them. A packet that adds none speaks of the work
  /// of one domain alone, such as heartbeats and views.
  void (*units)(const InspectedPacket& packet, std::vector<UnitName>& out) = nullptr;
  /// The same of a write.
  void (*units_of_write)(const InspectedWrite& write, const ClusterShape& cluster,
                         std::vector<UnitName>& out) = nullptr;
  std::unique_ptr<Ghost> (*make_ghost)(const GhostSetup& setup,
                                       const GhostReport& report) = nullptr;
};

}  // namespace peal::order
