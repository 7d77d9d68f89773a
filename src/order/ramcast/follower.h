// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "order/ramcast/acks.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/log_reader.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"
#include "order/ramcast/sender.h"

namespace peal::order::ramcast {

/// The work of a follower: takes the leader's log, base and timestamps.
class Follower final : public LogTaker {
 public:
  Follower(const Parts& parts, Messages& messages, DomainState& state, Outlet& outlet, Acks& acks,
           LogReader& reader, Sender& sender)
      : parts_(parts),
        messages_(messages),
        state_(state),
        outlet_(outlet),
        acks_(acks),
        reader_(reader),
        sender_(sender) {}

  /// Reads the log. True if anything was taken.
  bool read(Instant now);
  Taken take(const wire::LogEntry& entry, ByteView unit) override;
  /// The region was revoked: what is left of a base that did not end is void.
  void begin_log();

 private:
  struct BaseEntry {
    wire::LogEntry entry;
    wire::DomainView view;  ///< of a base_view
  };

  Taken take_base(const wire::LogEntry& entry, ByteView unit);
  Taken end_base(const wire::LogEntry& entry, ByteView unit);
  bool skips_unknown();
  bool skips_behind_view() const;
  bool has_space_for_base();
  bool adopt(const BaseEntry& each);
  bool may_follow(Seq stamp) const;
  Taken take_proposal(const wire::LogEntry& entry, ByteView unit);
  Record* record_of(const wire::LogEntry& entry);
  bool is_own_stamp(Seq stamp) const {
    return domain_of_key(stamp) == parts_.domain && parts_.clock.believes(stamp);
  }
  bool is_view(const wire::DomainView& view) const {
    return parts_.layout.is_roster(view.roster, parts_.domain) &&
           parts_.clock.believes(view.id.number);
  }

  const Parts& parts_;
  Messages& messages_;
  DomainState& state_;
  Outlet& outlet_;
  Acks& acks_;
  LogReader& reader_;
  Sender& sender_;
  Instant now_{};
  std::vector<BaseEntry> base_;
  bool active_ = false;  ///< the base says that members may deliver
};

}  // namespace peal::order::ramcast
