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

// What an engine supplies so that the membership can agree on the engine's views.

namespace peal::order::evs {

struct Settings {
  MemberId self{};
  NodeList nodes;
  std::uint64_t cluster{};
  wire::Checksum checksum = wire::Checksum::present;
  std::uint64_t seed{};
  Duration silence;  ///< a view, or an attempt at one, ends if it shows no sign of life for this
                     ///< long
  Duration resend;   ///< retransmit timeout of Membership::send_tracked()
  Duration join, consensus, probe, damping, damping_max;
  std::uint32_t packet_bytes_max{};  ///< largest packet of a trial
  std::uint64_t first_count{};       ///< first view number and JOIN number
  bool majority = false;             ///< mark views as primary or not
};

/// What the commit token established about a new view.
struct Agreement {
  ViewId view{};
  MemberSet members;
  std::uint16_t index{};        ///< index of this member
  wire::OldView old_view;       ///< what the survivors of this member's old view hold together
  wire::CommitOptions options;  ///< merged from all members
};

/// What the membership asks of the engine whose views it manages. The engine puts its data on the
/// commit token as bytes, in a format that it declares.
///
/// The engine decides when recovery is complete (Membership::installed()) and what counts as a sign
/// of life of a view (Membership::note_life()).
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual const wire::CommitFormat& commit_format() const = 0;
  /// The membership is about to give up the view: send all ordered units to the network.
  virtual void flush(Effects& out) = 0;
  /// A gathering begins, or this member leaves: discard the state of an attempt, and all deferred
  /// sends of the view. Keep the packets of the view.
  virtual void abandon() = 0;
  /// Merges this member's requirements on the next view into the options, which are empty if this
  /// member is the first.
  virtual void fold_options(wire::CommitOptions& options) const = 0;
  /// Merges what this member holds of its old view into the record. From now on the engine must not
  /// accept anything that contradicts the record. The record is empty if this member is the first
  /// of its old view.
  virtual void freeze(std::vector<std::byte>& record) = 0;
  /// Whether the record extends the one that this member froze.
  virtual bool accepts(ByteView record) const = 0;
  /// All records are known: repair the old view. Membership::state() is `recovery`.
  virtual void recover(Instant now, const Agreement& agreement, Effects& out) = 0;
  /// Every member is in recovery. Called once in an attempt, only at the representative, and only
  /// if the view has several members.
  virtual void lead_recovery(Instant now, Effects& out) = 0;
  /// A view with one member: install it without waiting.
  virtual void install_alone(Instant now, Effects& out) = 0;
};

}  // namespace peal::order::evs
