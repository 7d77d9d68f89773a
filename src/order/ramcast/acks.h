// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/ramcast/cells.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"

namespace peal::order::ramcast {

/// Acknowledgements: collects the timestamps of all domains of a message, acknowledges them, counts
/// the acknowledgements of all servers, and finds the message's key.
class Acks {
 public:
  Acks(const Parts& parts, Links& links, Messages& messages, CellTable& table, Outlet& outlet)
      : parts_(parts),
        links_(links),
        messages_(messages),
        table_(table),
        outlet_(outlet),
        bad_(links.bad()) {}

  /// Reads what the other servers say of all pending messages. True if anything was new.
  bool read();
  /// Acknowledges the message if all its timestamps are known here, and its key is the largest of
  /// them once a quorum of each domain acknowledged the same ones. True if anything changed.
  bool advance(Record& record);
  /// Advances all messages of which something new is known. True if anything changed.
  bool advance_touched();
  /// The message has this key.
  void commit(Record& record, Seq key);
  /// A leader's proposal goes to the servers of the other domains.
  void propose(const Record& record);
  /// The latest round of another domain in which the message's key, which is known, can have been
  /// found; none if this server has only heard of the key.
  wire::Round found_in(const Record& record, unsigned domain) const;
  /// Says to one server again what this server says of the message.
  void repeat(NodeIndex server, const Record& record);
  /// The server has begun a new round: what it acknowledged before is void.
  void begin_round();

 private:
  bool read_cell(Record& record, NodeIndex server, unsigned domain, std::uint64_t offset);
  bool acknowledge(Record& record);
  bool find_key(Record& record);
  bool is_plausible(unsigned domain, const wire::Cell& cell) const;
  bool take(Record& record, NodeIndex server, unsigned domain, const wire::Cell& cell);
  wire::Cell cell_of(const Record& record) const;

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  CellTable& table_;
  Outlet& outlet_;
  BadRecords& bad_;
};

}  // namespace peal::order::ramcast
