// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ring_queue.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/inbox.h"
#include "order/ramcast/links.h"

namespace peal::order::ramcast {

/// The messages of this node: their way into the memory of all servers of their domains, and what
/// these tell about them.
class Sender {
 public:
  Sender(const Parts& parts, Links& links, Inbox& inbox, const DomainState& state);

  /// Takes units from the host and writes them. True if any was taken.
  bool pull(Instant now);
  void flush(Instant now);
  /// Reads what servers have released, and replies. True if anything was new.
  bool read(Effects& out);
  /// This node's own server has released its messages up to `index`.
  void on_released(unsigned domain, std::uint64_t index);
  /// This node delivers its message, which has this key.
  void on_delivery(std::uint64_t number, Seq key, Effects& out);
  /// This node's message has this key, and was delivered without this node. Its place is told
  /// before the node delivers anything.
  void note_past(std::uint64_t number, Seq key);
  /// This node delivers a message of any sender.
  void note_key(Seq key) { after_ = std::max(after_, key); }
  void on_open(NodeIndex server);
  /// Asks the servers about the message that this node waits for, if they have told nothing new for
  /// a while: their leader may be unable to.
  void on_timer(Instant now, Effects& out);
  std::optional<Instant> deadline() const;
  /// A server of its domains lacks the message. False if this node has it no more.
  bool on_pull(NodeIndex server, const wire::MessageId& message, Effects& out);

  /// All messages before this one have their places.
  bool knows_all_before(std::uint64_t number) const { return number <= placed_ + 1; }
  bool idle() const { return own_.empty(); }
  /// For tests.
  std::string describe() const;
  /// Number of the oldest message without a key, or 0.
  std::uint64_t waiting() const { return placed_ + 1 < first_ + own_.size() ? placed_ + 1 : 0; }
  wire::DomainBits waiting_for() const { return own_[placed_ + 1 - first_].head.to; }
  /// The domains of the oldest message that is not released.
  wire::DomainBits oldest_to() const { return own_.front().head.to; }
  /// This server has no space for the node's next message.
  bool lacks_space() const { return lacks_space_; }
  bool is_full() const { return own_.size() >= parts_.options.slots; }

 private:
  struct Own {
    Unit unit;
    wire::MessageHead head;
    Seq key{};
    bool delivered_here = false;
  };

  Own& own(std::uint64_t number) { return own_[number - first_]; }
  std::uint64_t last() const { return first_ + own_.size() - 1; }
  wire::DomainBits destinations() const;
  /// This node delivers, or has delivered, the message with this key, as a member; or it has not
  /// come that far, and may be a member by then.
  bool comes_here(const Own& message, Seq key) const;
  /// The message that keeps this node from sending, as it has no place or is not released; 0: none.
  std::uint64_t stuck() const;
  wire::DomainBits silent_domains(std::uint64_t number) const;
  void write(std::uint64_t number, NodeIndex server);
  void place(Effects& out);
  void release();
  bool read_server(NodeIndex server);
  bool is_plausible(const Own& message, Seq key) const;

  const Parts& parts_;
  Links& links_;
  Inbox& inbox_;
  const DomainState& state_;
  BadRecords& bad_;
  RingQueue<Own> own_;        ///< those that are not released by all their domains
  std::uint64_t first_ = 1;   ///< number of the first of them
  std::uint64_t placed_ = 0;  ///< the messages up to this number have their places
  bool learned_ = false;      ///< keys that place() has not looked at
  bool lacks_space_ = false;
  Seq after_ = 0;  ///< largest key that was delivered here or told
  std::array<std::uint64_t, wire::kDomainsMax + 1> next_index_{};
  std::array<std::uint64_t, wire::kDomainsMax + 1> released_{};
  std::uint64_t stuck_ = 0;  ///< as it was when on_timer() looked
  Instant ask_at_{};
  Duration ask_gap_{};
  std::vector<std::uint64_t> written_;  ///< by server: its messages up to this number were written
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::ramcast
