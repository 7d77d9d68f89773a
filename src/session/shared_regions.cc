// SPDX-License-Identifier: Apache-2.0
#include "session/shared_regions.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::session {
namespace {

constexpr std::size_t kRegionsMax = 16;
/// How long a client may read events from the region after its session ended.
constexpr Duration kReadPatience = seconds(1);

/// Only persons with the same rights may read each other's events.
bool same_rights(const Person& a, const Person& b) {
  return same_person(a, b) && a.identity.groups == b.identity.groups;
}

}  // namespace

/// The region for all persons with the rights of `person`. Makes the region if there is none;
/// returns null if this is not possible.
SharedRegion* SharedRegions::region_for(const Person& person) {
  for (const auto& each : regions_) {
    if (same_rights(each->person, person)) return each.get();
  }
  const std::uint32_t bytes = context_.options.shared_bytes;
  if (bytes < kSharedBytesLeast || regions_.size() >= kRegionsMax) return nullptr;
  const RegionId id = next_++;
  const ByteSpan memory = context_.host.open_region(id, bytes);
  if (memory.empty()) return nullptr;
  PEAL_ASSERT(memory.size() == bytes);
  regions_.push_back(std::make_unique<SharedRegion>(id, person, memory));
  return regions_.back().get();
}

void SharedRegions::attach(Session& it, Link& link, bool wanted) {
  const bool local = link.identity.kind == Identity::Kind::unix_user && link.identity.local;
  const bool same = link.identity.groups == it.person.identity.groups;
  if (wanted && local && same && it.shared == nullptr) {
    it.shared = region_for(it.person);
    if (it.shared != nullptr) ++it.shared->sessions;
  }
  it.events.set_shares(false);  // until the client has mapped the region
  link.region = wanted && local && same && it.shared != nullptr ? it.shared->id : 0;
}

void SharedRegions::keep_places(const Session& it) {
  Kept kept{context_.now + kReadPatience, {}};
  it.events.take_places(kept.chunks);
  if (kept.chunks.empty()) return;
  context_.due(kept.until);
  kept_.push_back(std::move(kept));
}

void SharedRegions::leave(Session& it) {
  if (it.shared == nullptr) return;
  if (--it.shared->sessions == 0) context_.due(context_.now);
  it.shared = nullptr;
}

void SharedRegions::check() {
  while (!kept_.empty() && kept_.front().until <= context_.now) kept_.pop_front();
  if (!kept_.empty()) context_.due(kept_.front().until);
  std::erase_if(regions_, [this](const auto& each) {
    if (each->sessions > 0) return false;
    if (each->region.bytes_in_use() > 0) {
      context_.due(context_.now + kReadPatience);
      return false;
    }
    PEAL_PROBE("session.region_closed");
    context_.host.close_region(each->id);
    return true;
  });
}

std::uint64_t SharedRegions::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& each : regions_) sum += each->region.bytes();
  return sum;
}

std::uint64_t SharedRegions::bytes_in_use() const {
  std::uint64_t sum = 0;
  for (const auto& each : regions_) sum += each->region.bytes_in_use();
  return sum;
}

void SharedRegions::check_invariants(const Registry& registry) const {
  PEAL_ASSERT(regions_.size() <= kRegionsMax);
  for (const auto& region : regions_) {
    region->region.check_invariants();
    const auto sessions =
        std::count_if(registry.all().begin(), registry.all().end(),
                      [&](const auto& each) { return each.second->shared == region.get(); });
    PEAL_ASSERT(static_cast<std::size_t>(sessions) == region->sessions);
  }
}

}  // namespace peal::session
