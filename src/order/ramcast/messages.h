// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/digest.h"
#include "order/ramcast/overwritten.h"
#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// A timestamp, and the round in which its domain's leader gave it.
struct Stamp {
  wire::Round round{};
  Seq key{};
};

/// What a server said of a message last.
struct Said {
  std::uint64_t digest = 0;
  Seq key{};
  bool acknowledged = false;
  wire::Round round{};         ///< of its domain, in which it acknowledged
  std::uint32_t checksum = 0;  ///< of the cell that said so
  bool seen = false;           ///< `checksum` is valid

  /// It acknowledged the message in this round of its domain.
  bool acknowledged_in(const wire::Round& of) const { return acknowledged && round == of; }
};

/// What a server knows of a message to its domain.
struct Record {
  wire::MessageId id{};
  std::uint64_t index = 0;  ///< in this server's domain; 0: the record is not used
  wire::MessageHead head{};
  BufferRef body{};  ///< the unit; empty if the server lacks it, or no member needs it any more
  bool has_body = false;
  /// A unit of the log for which no buffer was free. The leader counts on it.
  std::vector<std::byte> kept{};
  /// The domain's own timestamp, in the round that this server is synchronized with.
  Stamp own{};
  std::uint64_t entry = 0;  ///< number of the log entry with `own`
  bool inlined = false;     ///< the log entry contains the unit: it commits with its entry
  std::array<Stamp, wire::kDomainsMax + 1> others{};  ///< timestamps of other domains
  std::uint64_t digest = 0;                           ///< of the timestamps that were acknowledged
  Seq acknowledged{};                                 ///< their key; 0: nothing is acknowledged
  Seq key{};                                          ///< the final key; 0: unknown
  Seq heard{};                                        ///< see Lead::on_hearsay()
  wire::DomainBits replaced = 0;  ///< domains that have lost the order of their stamp
  bool found = false;             ///< the key was found here, and not heard of
  bool delivered = false;
  bool listed = false;   ///< in Messages::pending()
  bool touched = false;  ///< in Messages::touched()
  Instant repair_at{};
  Duration repair_gap{};
  Said* said = nullptr;  ///< one for each configured node

  bool used() const { return index != 0; }
  bool single() const { return head.indexes.size() == 1; }
};

/// The messages of one incarnation of a sender. A row that has nothing left to do has no records:
/// it says only where the sender's messages continue, should more of them appear.
struct Row {
  MemberId sender{};
  NodeIndex node{};
  /// The units of all messages below this index were here, or are not needed any more.
  std::uint64_t next = 1;
  std::uint64_t propose = 1;   ///< a leader has proposed all below, or they have their keys
  std::uint64_t released = 0;  ///< all members have delivered the messages up to this index
  std::uint64_t freed = 0;     ///< the bodies up to this index are freed
  std::vector<Record> records;
  std::vector<Said> said;
  /// The keys of messages to several domains that were in `records`, by number: other domains may
  /// ask for them.
  std::vector<std::pair<std::uint64_t, Seq>> past_keys;

  /// The record with this index, or null.
  Record* at(std::uint64_t index);
  /// The message in the slot that a message with this index uses, or null.
  const Record* in_slot(std::uint64_t index) const;
  /// All messages below this index are delivered here, or have their keys.
  bool knows_below(std::uint64_t index) const;
  /// The row is one of a former incarnation of its sender, and has nothing left to do.
  bool is_finished() const;
  /// The largest key of a message in the row; 0 if it has none.
  Seq last_key() const;
  /// The key of this message, if it is one of `past_keys`, or 0.
  Seq past_key(std::uint64_t number) const;
};

/// How this server has come to know of a message.
enum class Origin : std::uint8_t {
  sender,  ///< its unit came, and it may have no place yet
  order,   ///< a leader or another member has told its place
};

/// All messages to this server's domain that are not finished, in a row for each sender.
class Messages {
 public:
  explicit Messages(const Parts& parts) : parts_(parts), overwritten_(parts) {}

  Row* find_row(const MemberId& sender);
  /// The row of the sender; a new one if there is none. Null if the node has too many rows.
  Row* open_row(const MemberId& sender, NodeIndex node, Origin origin);
  const std::vector<std::unique_ptr<Row>>& rows() const { return rows_; }

  Record* find(const wire::MessageId& id);
  /// The record of the message in its slot. Null if the message is past, or if the slot has another
  /// one that is not delivered yet, or a later one, or if the node has too many rows with records.
  Record* claim(Row& row, const wire::MessageId& id, const wire::MessageHead& head, Origin origin);
  /// The message was delivered here, or all members have, or its sender has gone on in its slot.
  bool is_past(const MemberId& sender, NodeIndex node, const wire::MessageHead& head);
  /// All messages of the sender below this index are delivered here, have their keys, or are past.
  bool knows_below(const MemberId& sender, NodeIndex node, std::uint64_t index);
  /// What claim() would do for a message of the order, once the sender's messages below `begin` are
  /// past.
  enum class Space : std::uint8_t {
    none,
    unused,  ///< it needs none, or the slot's former message has no more use
    moved,   ///< the slot's former message moves to overwritten()
    row,     ///< its row gets records: see can_fill()
  };
  Space space_for(const MemberId& sender, const wire::MessageHead& head, std::uint64_t begin);
  /// So many more rows of the node may have records.
  bool can_fill(NodeIndex node, std::size_t count, Origin origin) const;
  /// The units of this message and of all earlier ones of its sender are here, or not needed.
  bool has_units_up_to(const Record& record);
  /// The record in a slot has no more use, or there is space to keep it elsewhere.
  bool may_overwrite(const Row& row, const Record& record) const;
  /// The unit of the message is here.
  void put_body(Row& row, Record& record, BufferRef body);
  /// The same for a unit of the log. Without a free buffer it stays elsewhere until restore().
  void put_logged(Row& row, Record& record, ByteView unit);
  /// Units for which there are buffers by now.
  void restore();
  /// Forgets a message that this server does not deliver.
  void forget(Record& record);
  /// Forgets the messages that the base does not name and whose units, or those of earlier messages
  /// of their senders, are missing: none of them was acknowledged, and the units may never come.
  void forget_lost();
  /// The message was delivered with this key, before this server took part.
  void note_past(Row& row, const wire::MessageId& id, const wire::MessageHead& head, Seq key);
  /// The sender's messages below this index are past: this server has no part in those whose keys
  /// it does not know.
  void skip(Row& row, std::uint64_t index);

  /// All messages that have no key, or are not delivered.
  const std::vector<Record*>& pending() const { return pending_; }
  void list(Record& record, Instant repair_at);
  /// Removes delivered messages from pending().
  void tidy();
  /// No message is to be repaired before this time; unknown if it is in the past.
  Instant repair_at() const { return repair_at_; }
  void set_repair_at(Instant at) { repair_at_ = at; }

  /// Something new is known of the message: Acks has to look at it.
  void touch(Record& record);
  /// The messages that were touched since the last call.
  const std::vector<Record*>& take_touched();

  /// All members have delivered everything up to this key.
  void release(Seq delivered);
  OverwrittenMessages& overwritten() { return overwritten_; }
  const OverwrittenMessages& overwritten() const { return overwritten_; }
  /// This server knows the key of each message of its domain behind this one, up to what it has
  /// delivered. What is not pending or in overwritten() is in a record, with or without its unit.
  Seq known_since() const { return known_since_; }
  /// It may not know all messages up to this key, or has forgotten some of them.
  void lose(Seq key) { known_since_ = std::max(known_since_, key); }
  /// The largest key that release() was called with.
  Seq released() const { return released_; }
  /// Frees the records of a finished row.
  void shrink(Row& row);

  void add_to(Digest& digest) const;
  void check_invariants() const;

  /// Incarnations of one node from which this server takes messages at the same time. All servers
  /// of the domain together may order those of so many times as many incarnations.
  static constexpr std::size_t kRowsOfANode = 4;
  /// Incarnations of one node that are remembered.
  static constexpr std::size_t kIncarnationsOfANode = 16;

 private:
  static bool must_keep(std::uint64_t released, const Record& record);
  bool is_removed(const MemberId& sender, NodeIndex node) const;
  void reset(Record& record);
  void advance(Row& row);
  void remove_oldest(NodeIndex node);
  void fill(Row& row);

  const Parts& parts_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<MemberId> removed_;  ///< by node: the last incarnation whose row was removed
  std::vector<Record*> pending_;
  OverwrittenMessages overwritten_;
  Seq known_since_ = 0;
  std::vector<Record*> touched_, taken_;
  bool keeps_ = false;  ///< some record may have a unit in `kept`
  Instant repair_at_{};
  Seq released_ = 0;
  mutable std::size_t checked_ = 0;  ///< calls of check_invariants()
};

/// Messages that a server may know and that are not finished.
inline std::size_t records_max(const Parts& parts) {
  const std::size_t servers = parts.layout.servers(parts.domain).size();
  return parts.layout.nodes() * parts.options.slots * Messages::kRowsOfANode * servers;
}

}  // namespace peal::order::ramcast
