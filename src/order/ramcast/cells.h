// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "order/ramcast/links.h"
#include "order/ramcast/messages.h"

namespace peal::order::ramcast {

/// What this server says of messages, in its table at each server of their domains. All servers of
/// one domain have the same table. What has changed is written as soon as few writes to the server
/// are under way; neighbouring cells then share a write.
class CellTable {
 public:
  CellTable(const Parts& parts, Links& links);

  enum class To : std::uint8_t {
    nobody,  ///< only repeat() writes the cell
    others,  ///< the other domains of the message
    all,
  };
  /// Sets the cell of the message. `cell.index` is set for each domain.
  void put(const Record& record, const wire::Cell& cell, To to);
  /// Writes the cell of the message to one server again.
  void repeat(NodeIndex server, const Record& record);

  void on_open(NodeIndex server);
  void on_done(NodeIndex server);
  void flush(Instant now);

  /// Offset of the message's cell in a table of `domain`.
  std::uint64_t offset_of(const Record& record, unsigned domain, NodeIndex sender) const {
    return std::uint64_t{cell_of(record, domain, sender)} * wire::kCellBytes;
  }

 private:
  /// Writes to one server that may be under way before further changes are collected.
  static constexpr std::uint32_t kUnderWay = 2;

  struct Target {
    std::vector<bool> dirty;      ///< by cell
    std::vector<NodeIndex> rows;  ///< senders with dirty cells, without duplicates
    std::vector<bool> listed;     ///< by sender: it is in `rows`
    std::uint32_t under_way = 0;
    std::uint64_t message = 0;  ///< number of a message with a dirty cell
  };

  std::size_t cell_of(const Record& record, unsigned domain, NodeIndex sender) const {
    const std::size_t slots = parts_.options.slots;
    return sender * slots + wire::index_in(record.head, domain) % slots;
  }
  void mark(NodeIndex server, std::size_t cell, std::uint64_t message);
  void write_row(NodeIndex server, Target& target, NodeIndex sender);

  const Parts& parts_;
  Links& links_;
  std::vector<std::vector<std::byte>> tables_;  ///< by domain
  std::vector<Target> targets_;                 ///< by node
};

}  // namespace peal::order::ramcast
