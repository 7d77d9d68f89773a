// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ensembles_inner.h"

// This node's units, the choice of an ensemble for each unit, and the space for the ensembles'
// results.

namespace peal::order::ridge {
namespace {

/// A member uses only the first ensemble until it has this number of units in progress there. Then
/// it uses the other ensembles too. No ensemble has more units of the member in progress than
/// another ensemble plus this number.
constexpr std::size_t kHandedAhead = 16;

}  // namespace

/// True if this ensemble may take the next unit. While there is little to order, the first ensemble
/// takes all units. In that case the units wait only for empty values of the other ensembles.
///
/// A node that learns two domains merges this node's units by the keys of two ensembles. These keys
/// do not show which unit was sent first. So all units in progress are of one domain, and the first
/// unit of another domain waits until all units in progress have their places.
bool Ensembles::Inner::may_take() const {
  if (domain != all_.next_domain()) return false;
  if (all_.rotates()) return index_ == all_.home_ring();
  std::size_t least = handed.size();
  for (const auto& inner : all_.inner_) {
    if (inner->domain == domain && inner->engine->joined())
      least = std::min(least, inner->handed.size());
  }
  if (handed.size() >= least + kHandedAhead) return false;
  return index_ == 0 || domain != 0 || all_.inner_.front()->handed.size() >= kHandedAhead;
}

/// True if the next waiting unit may join the units in progress.
bool Ensembles::may_add() const {
  return own_.empty() || layout_.domains.empty() || PEAL_MUTANT(do_at_once) ||
         host_.next_domains() == DomainSet::of(own_.last().domain);
}

/// The domain of the next unit: units that came back from an ensemble go first.
Domain Ensembles::next_domain() const {
  if (layout_.domains.empty()) return 0;
  if (own_.again() > 0) return own_.at(own_.first_again()).domain;
  const DomainSet domains = host_.next_domains();
  PEAL_ASSERT(domains.size() <= 1);
  return domains.first();
}

std::uint32_t Ensembles::Inner::backlog_units() const {
  if (!all_.joined_ || !may_take()) return 0;
  const auto again = static_cast<std::uint32_t>(all_.own_.again());
  return !all_.own_.full() && all_.may_add() ? again + all_.host_.backlog_units() : again;
}

bool Ensembles::Inner::next_unit(std::uint32_t unit_bytes_max, Unit& out) {
  if (!all_.joined_ || !may_take()) return false;
  if (all_.own_.again() > 0) return hand_again(unit_bytes_max, out);
  const auto head = static_cast<std::uint32_t>(wire::kPlacingBytes);
  if (all_.own_.full() || !all_.may_add())
    return false;  // too many units without a place, or units of another domain in progress
  if (!all_.host_.next_unit(unit_bytes_max - head, out)) return false;
  // In rotation a unit gets the next place of its ensemble, so it needs no timestamp.
  const std::uint64_t stamp = all_.rotates() ? 0 : all_.keys_.stamp(all_.now_);
  const wire::Placing placing{stamp, all_.view_.number, all_.own_.next_number()};
  out.bytes.grow_front(head);
  wire::encode_placing_in_place(placing, {out.bytes.data(), out.bytes.size()});
  all_.own_.add({out.bytes, out.service, domain});
  handed.push_back({placing.view, placing.number});
  return true;
}

// Copies the unit to a new buffer, because packets of the ensemble's previous view may still use
// the old buffer.
bool Ensembles::Inner::hand_again(std::uint32_t unit_bytes_max, Unit& out) {
  const std::uint64_t first = all_.own_.first_again();
  const OwnUnits::Unit& own = all_.own_.at(first);
  const std::uint32_t size = own.bytes.size();
  PEAL_ASSERT(size <= unit_bytes_max);
  out.bytes = all_.pool_.take(wire::kRelayHeaderBytes, size);
  if (!out.bytes) return false;
  std::memcpy(out.bytes.data(), own.bytes.data(), size);
  out.service = own.service;
  all_.own_.handed_again();
  handed.push_back({all_.view_.number, first});
  return true;
}

std::uint32_t Ensembles::Inner::receive_room_units() const {
  const std::size_t waiting = all_.merge_.waiting(index_);
  const std::uint32_t own =
      waiting < all_.waiting_max_ ? all_.waiting_max_ - static_cast<std::uint32_t>(waiting) : 0;
  const std::uint32_t room = std::min(own, all_.host_.receive_room_units());
  if (room == 0) starved = true;
  return room;
}

}  // namespace peal::order::ridge
