// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/digest.h"
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
  std::uint32_t checksum = 0;  ///< of the cell that said so
  bool seen = false;           ///< `checksum` is valid
};

/// What a server knows of a message to its domain.
struct Record {
  wire::MessageId id{};
  std::uint64_t index = 0;  ///< in this server's domain; 0: the record is not used
  wire::MessageHead head{};
  BufferRef body{};  ///< the unit; empty if the server lacks it, or no member needs it any more
  bool has_body = false;
  /// The domain's own timestamp, in the round that this server is synchronized with.
  Stamp own{};
  std::uint64_t entry = 0;  ///< number of the log entry with `own`
  bool inlined = false;     ///< the log entry contains the unit: it commits with its entry
  std::array<Stamp, wire::kDomainsMax + 1> others{};  ///< timestamps of other domains
  std::uint64_t digest = 0;                           ///< of the timestamps that were acknowledged
  Seq acknowledged{};                                 ///< their key; 0: nothing is acknowledged
  Seq key{};                                          ///< the final key; 0: unknown
  bool delivered = false;
  bool listed = false;  ///< in Messages::pending()
  Instant repair_at{};
  Duration repair_gap{};
  Said* said = nullptr;  ///< one for each configured node

  bool used() const { return index != 0; }
  bool single() const { return head.indexes.size() == 1; }
};

/// The messages of one incarnation of a sender.
struct Row {
  MemberId sender{};
  NodeIndex node{};
  std::uint64_t next = 1;      ///< the units of all messages below this index were here
  std::uint64_t propose = 1;   ///< a leader has proposed all below, or they have their keys
  std::uint64_t released = 0;  ///< all members have delivered the messages up to this index
  std::uint64_t freed = 0;     ///< the bodies up to this index are freed
  std::vector<Record> records;
  std::vector<Said> said;
};

/// All messages to this server's domain that are not finished, in a row for each sender.
class Messages {
 public:
  explicit Messages(const Parts& parts) : parts_(parts) {}

  Row* find_row(const MemberId& sender);
  /// The row of the sender; a new one if there is none. Null if the node has too many rows.
  Row* open_row(const MemberId& sender, NodeIndex node);
  const std::vector<std::unique_ptr<Row>>& rows() const { return rows_; }

  Record* find(const wire::MessageId& id);
  /// The record of the message in its slot. Null if the slot has another message that is not
  /// delivered yet, or a later one.
  Record* claim(Row& row, const wire::MessageId& id, const wire::MessageHead& head);
  /// The record with this index, or null.
  Record* at(Row& row, std::uint64_t index);
  /// The unit of the message is here.
  void put_body(Row& row, Record& record, BufferRef body);
  /// Forgets a message that this server does not deliver.
  void forget(Record& record);

  /// All members have delivered the messages below this index: this server has no part in those
  /// whose keys it does not know.
  void skip(Row& row, std::uint64_t index);

  /// All messages that have no key, or are not delivered.
  const std::vector<Record*>& pending() const { return pending_; }
  void list(Record& record, Instant repair_at);
  /// Removes delivered and forgotten messages from pending().
  void tidy();
  /// All members have delivered everything up to this key.
  void release(Seq delivered);
  /// Removes all rows: the server begins again with a base.
  void clear();
  /// Removes rows of former incarnations of senders that have nothing left to do.
  void remove_finished_rows(const std::vector<MemberId>& current);

  void add_to(Digest& digest) const;
  void check_invariants() const;

  static constexpr std::size_t kRowsOfANode = 4;

 private:
  void reset(Row& row, Record& record);

  const Parts& parts_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<Record*> pending_;
};

}  // namespace peal::order::ramcast
