// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// This node's units: the choice of an ensemble for each, and their timestamps.

namespace peal::order::ridge {
namespace {

/// Units of a member in the first ensemble before it uses others too, and by how much one ensemble
/// may then be ahead of the others.
constexpr std::size_t kHandedAhead = 16;

}  // namespace

/// The first ensemble is enough while there is little to order: then no other ensemble delays it
/// except by its empty values.
///
/// A node that learns two domains sees units of this node ordered by the keys of their ensembles,
/// which do not show which unit was sent first. So all units in progress are of one domain, and the
/// first one of another domain waits until they have their places.
bool Ensembles::may_take(std::size_t ensemble) const {
  const Domain domain = inner_[ensemble]->domain;
  if (domain != next_domain()) return false;
  if (rotates()) return ensemble == home_ring();
  std::size_t least = inner_[ensemble]->handed.size();
  for (const auto& inner : inner_) {
    if (inner->domain == domain && inner->engine->joined())
      least = std::min(least, inner->handed.size());
  }
  if (inner_[ensemble]->handed.size() >= least + kHandedAhead) return false;
  return ensemble == 0 || domain != 0 || inner_.front()->handed.size() >= kHandedAhead;
}

/// The next waiting unit may join those in progress.
bool Ensembles::may_add() const {
  return own_.empty() || layout_.domains.empty() || PEAL_MUTANT(do_at_once) ||
         host_.next_domain() == own_.back().domain;
}

/// The domain of the next unit: units that a view took back go first.
Domain Ensembles::next_domain() const {
  if (layout_.domains.empty()) return 0;
  return again_.empty() ? host_.next_domain() : own_[*again_.begin() - own_first_].domain;
}

std::uint32_t Ensembles::backlog(std::size_t ensemble) const {
  if (!joined_ || !may_take(ensemble)) return 0;
  const auto again = static_cast<std::uint32_t>(again_.size());
  return own_.size() < own_max_ && may_add() ? again + host_.backlog_units() : again;
}

bool Ensembles::next_unit(std::size_t ensemble, std::uint32_t unit_bytes_max, Unit& out) {
  if (!joined_ || !may_take(ensemble)) return false;
  if (!again_.empty()) return hand_again(ensemble, unit_bytes_max, out);
  const auto head = static_cast<std::uint32_t>(wire::kPlacingBytes);
  if (own_.size() >= own_max_ || !may_add())
    return false;  // other nodes would not keep one so far ahead
  if (!host_.next_unit(unit_bytes_max - head, out)) return false;
  // In rotation a unit takes the next place of its ring, regardless of the time.
  stamped_ = rotates() ? 0 : std::max(key_now(), stamped_ + 1);
  const wire::Placing placing{stamped_, view_.number, own_first_ + own_.size()};
  out.bytes.grow_front(head);
  wire::encode_placing_in_place(placing, {out.bytes.data(), out.bytes.size()});
  own_.push_back({out.bytes, out.service, inner_[ensemble]->domain});
  inner_[ensemble]->handed.push_back({placing.view, placing.number});
  return true;
}

// Uses a buffer of its own, since packets of the ensemble's previous view may still use the other
// one.
bool Ensembles::hand_again(std::size_t ensemble, std::uint32_t unit_bytes_max, Unit& out) {
  const std::uint64_t number = *again_.begin();
  const Own& own = own_[number - own_first_];
  const std::uint32_t size = own.bytes.size();
  PEAL_ASSERT(size <= unit_bytes_max);
  out.bytes = pool_.take(wire::kRelayHeaderBytes, size);
  if (!out.bytes) return false;
  std::memcpy(out.bytes.data(), own.bytes.data(), size);
  out.service = own.service;
  again_.erase(again_.begin());
  inner_[ensemble]->handed.push_back({view_.number, number});
  return true;
}

std::uint32_t Ensembles::room(std::size_t ensemble) const {
  const std::size_t waiting = merge_.waiting(ensemble);
  const std::uint32_t own =
      waiting < waiting_max_ ? waiting_max_ - static_cast<std::uint32_t>(waiting) : 0;
  const std::uint32_t room = std::min(own, host_.receive_room_units());
  if (room == 0) inner_[ensemble]->starved = true;
  return room;
}

/// The timestamp of a unit or an empty value: this node's time, moved ahead to the keys of all
/// values that it has seen ordered. So a unit is ordered behind those that its sender knew, and
/// clocks of different machines agree up to the delay of packets. Keys of empty values are ahead of
/// the time on purpose, and do not count.
std::uint64_t Ensembles::key_now() const {
  return static_cast<std::uint64_t>(now_.ns / 1'000 + keys_ahead_);
}

/// An ensemble has ordered a non-empty value with this key.
void Ensembles::see_item(std::uint64_t key) {
  if (rotates()) {
    last_at_ = now_;
  } else {
    see_key(key);
  }
}

void Ensembles::see_key(std::uint64_t key) {
  const std::uint64_t now = key_now();
  if (key >= now && key <= wire::kStampMax) {
    keys_ahead_ += static_cast<std::int64_t>(key - now + 1);
  }
}

}  // namespace peal::order::ridge
