// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/member_set.h"
#include "wire/frames.h"

// The settings and functions that an engine with views supplies to the membership.

namespace peal::order::evs {

struct Settings {
  MemberId self{};
  NodeList nodes;
  std::uint64_t cluster{};
  wire::Checksum checksum = wire::Checksum::present;
  std::uint64_t seed{};
  Duration silence;  ///< without a sign of life for this time, a view or an attempt at a view ends
  Duration resend;   ///< retransmit timeout of Membership::send_tracked()
  Duration join, consensus, probe, damping, damping_max;
  std::uint32_t packet_bytes_max{};  ///< largest packet of a trial
  std::uint64_t first_count{};       ///< view numbers and JOIN numbers begin after this number
  /// True: a view is primary if it has a majority of the active list. False: each view is
  /// Primary::unclaimed.
  bool majority = false;
};

/// What the members have agreed about a new view with the commit token.
struct Agreement {
  ViewId view{};
  MemberSet members;
  std::uint16_t index{};        ///< index of this member
  wire::OldView old_view;       ///< merged record of the survivors of this member's old view
  wire::CommitOptions options;  ///< merged from all members
};

/// The functions of the engine that the membership calls. The commit token carries the engine's
/// data as bytes, in the format that commit_format() returns.
///
/// The engine decides when recovery is complete, and then calls Membership::installed(). It also
/// decides which packets are signs of life of a view, and then calls Membership::note_life().
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual const wire::CommitFormat& commit_format() const = 0;
  /// The membership will give up the view next. The engine must send all ordered units that it has
  /// not sent yet.
  virtual void flush(Effects& out) = 0;
  /// A gathering begins, or this member leaves. The engine must discard the state of the attempt
  /// and the deferred sends of the view. It must keep the packets of the view.
  virtual void abandon() = 0;
  /// Merges this member's requirements on the next view into `options`. `options` is empty if no
  /// member has merged its requirements yet.
  virtual void fold_options(wire::CommitOptions& options) const = 0;
  /// Merges what this member holds of its old view into `record`. The record is empty if this
  /// member is the first survivor of its old view. From now on, the engine must not accept anything
  /// that contradicts the record.
  virtual void freeze(std::vector<std::byte>& record) = 0;
  /// True if `record` still contains all that this member merged into it in freeze().
  virtual bool accepts(ByteView record) const = 0;
  /// All records are known, and Membership::state() is `recovery`. The engine must repair the old
  /// view.
  virtual void recover(Instant now, const Agreement& agreement, Effects& out) = 0;
  /// Every member is in recovery. Called once in an attempt, only at the representative, and only
  /// if the view has several members.
  virtual void lead_recovery(Instant now, Effects& out) = 0;
  /// This member is the only member of the agreed view. The engine must install the view at once.
  virtual void install_alone(Instant now, Effects& out) = 0;
};

}  // namespace peal::order::evs
