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

// What an engine brings along, so that the membership can agree on its views.

namespace peal::order::evs {

struct Settings {
  MemberId self{};
  NodeList nodes;
  std::uint64_t cluster{};
  wire::Checksum checksum = wire::Checksum::present;
  std::uint64_t seed{};
  Duration silence;  ///< without a sign of life a view, or an attempt at one, is over
  Duration resend;   ///< without a sign of life what was sent to one member is sent again
  Duration join, consensus, probe, damping, damping_max;
  std::uint32_t packet_bytes_max{};  ///< largest packet of a trial
  std::uint64_t first_count{};       ///< view numbers and JOIN numbers begin here
  bool majority = false;             ///< mark views as primary or not
};

/// What the commit token settled about a new view.
struct Agreement {
  ViewId view{};
  MemberSet members;
  std::uint16_t index{};        ///< of this member
  wire::OldView old_view;       ///< what the survivors of my old view hold together
  wire::CommitOptions options;  ///< of all members
};

/// What membership asks of the engine whose views it agrees on. What the engine has to say on the
/// commit token it writes as bytes of its own, whose format it gives.
///
/// The engine decides when a recovery is over (Membership::installed()), and what a sign of life of
/// a view is (Membership::note_life()).
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual const wire::CommitFormat& commit_format() const = 0;
  /// The view is about to be given up: hand everything that was ordered to the network.
  virtual void flush(Effects& out) = 0;
  /// An attempt begins or failed: forget what belongs to the attempt, and what was to be sent later
  /// in the view. Packets of the old view stay.
  virtual void abandon() = 0;
  /// Folds what this member asks of the next view into the options. They are empty if it is the
  /// first one.
  virtual void fold_options(wire::CommitOptions& options) const = 0;
  /// Folds what this member holds of its old view into the record; from now on nothing that
  /// contradicts it may be accepted. The record is empty if this member is the first of its old
  /// view.
  virtual void freeze(std::vector<std::byte>& record) = 0;
  /// Whether a record can be the one that this member froze, with what others added to it.
  virtual bool accepts(ByteView record) const = 0;
  /// Everybody's record is known: repair the old view. Membership::state() is `recovery`.
  virtual void recover(Instant now, const Agreement& agreement, Effects& out) = 0;
  /// Every member is in recovery. Called once in an attempt, and only at the representative of a
  /// view of several members.
  virtual void lead_recovery(Instant now, Effects& out) = 0;
  /// The only member of a view has nobody to wait for.
  virtual void install_alone(Instant now, Effects& out) = 0;
};

}  // namespace peal::order::evs
