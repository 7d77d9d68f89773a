// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/ramcast/links.h"
#include "order/ramcast/messages.h"

namespace peal::order::ramcast {

/// The messages that senders write into this server's memory, in the order of each sender's
/// messages; those that other nodes relay; and this node's own.
class Inbox {
 public:
  Inbox(const Parts& parts, Links& links, Messages& messages)
      : parts_(parts),
        links_(links),
        messages_(messages),
        bad_(links.bad()),
        direct_(parts.layout.nodes()) {}

  /// Reads new messages. True if there were any.
  bool read(Instant now);
  /// The slot of this node's next message is free here.
  bool has_space(std::uint64_t index);
  /// A message of this node.
  void put_own(Instant now, const wire::MessageHead& head, const BufferRef& unit);
  /// A message that another node has relayed. False if it is not the next one of its sender.
  bool put_relayed(Instant now, const MemberId& sender, const wire::MessageHead& head,
                   const BufferRef& unit);
  /// A new incarnation of the node: its first message has index 1.
  void on_renewed(NodeIndex node);

 private:
  bool read_next(Instant now, NodeIndex sender, Row& row);
  bool is_legal(const wire::MessageHead& head) const;
  bool may_be_in_slot(NodeIndex sender, std::uint64_t index, std::uint64_t found) const;
  bool put(Instant now, Row& row, const MemberId& sender, const wire::MessageHead& head,
           BufferRef unit);

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  BadRecords& bad_;
  /// The last messages in a row that were read from the slots of a sender: indexes.
  struct Direct {
    std::uint64_t first = 0, last = 0;
  };
  std::vector<Direct> direct_;  ///< by node
};

}  // namespace peal::order::ramcast
