// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "order/ramcast/domain_state.h"
#include "order/ramcast/links.h"
#include "order/ramcast/messages.h"

namespace peal::order::ramcast {

/// What a leader tells the senders: the keys of the messages of senders that do not deliver them
/// themselves, and which messages are released.
class Replies {
 public:
  Replies(const Parts& parts, Links& links, Messages& messages, const DomainState& state);

  /// The message is delivered here.
  void on_delivery(const Record& record);
  /// This server has become the leader: it tells everything again. A sender that has delivered its
  /// message itself is told, too: it may have been outside the view.
  void begin();
  void on_open(NodeIndex sender);
  /// The sender has heard nothing of its message for a while: the leader may be unable to tell.
  /// This server tells it everything too, for some time.
  void on_query(Instant now, NodeIndex sender);
  void flush(Instant now);
  /// Writes also what would wait for more: at each beat.
  void hurry() { hurry_ = true; }

 private:
  struct Target {
    MemberId sender{};  ///< whom the image is for
    std::vector<std::byte> image;
    std::vector<bool> dirty;  ///< replies, by slot
    bool any = false;
    std::uint64_t released = 0;  ///< index that was written last
    Instant asked_until{};       ///< the sender is told, whoever leads
    std::uint64_t message = 0;   ///< number of a message of the sender
  };

  bool is_outside(const Record& record) const;
  bool tells(const Target& target) const {
    return parts_.standing.leads() || target.asked_until > now_;
  }
  void tell_all(const Row& row);
  void tell(const Record& record);
  static std::uint64_t some_message(const Row& row);
  static void begin_target(Target& target, const MemberId& sender);

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  const DomainState& state_;
  std::vector<Target> targets_;
  Instant asked_until_{};  ///< by any sender
  Instant now_{};          ///< of the last flush() or query
  bool hurry_ = false;
};

}  // namespace peal::order::ramcast
