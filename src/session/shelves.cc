// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "session/core.h"

// Regions: which persons read them, which events are in them, and for how long.

namespace peal::session {
namespace {

constexpr std::size_t kShelvesMax = 16;
/// Smaller events cost no more if they are written to each connection.
constexpr std::size_t kSharedBytesMin = 512;
/// A client that lags by more than 1/kBehindPart of a region gets events on its connection, so that
/// clients that keep up have room.
constexpr std::uint64_t kBehindPart = 8;
/// How long a client may read events from the region after its session ended.
constexpr Duration kReadPatience = seconds(1);

/// Only persons with the same rights may read each other's events.
bool same_rights(const Person& a, const Person& b) {
  return same_person(a, b) && a.identity.groups == b.identity.groups;
}

}  // namespace

/// The region for persons with the same rights. Makes one if there is none; null if it may not.
Shelf* Sessions::Core::shelf_of(const Person& person) {
  for (const auto& shelf : shelves_) {
    if (same_rights(shelf->person, person)) return shelf.get();
  }
  const std::uint32_t bytes = options_.shared_bytes;
  if (bytes < kSharedBytesLeast || shelves_.size() >= kShelvesMax) return nullptr;
  const RegionId id = next_region_++;
  const ByteSpan memory = host_.open_region(id, bytes);
  if (memory.empty()) return nullptr;
  PEAL_ASSERT(memory.size() == bytes);
  shelves_.push_back(std::make_unique<Shelf>(id, person, memory));
  return shelves_.back().get();
}

/// Decides whether the client may read from a region; the welcome says so.
void Sessions::Core::share(Session& it, Connection& to, bool wanted) {
  const bool local = to.identity.kind == Identity::Kind::unix_user && to.identity.local;
  const bool same = to.identity.groups == it.person.identity.groups;
  if (wanted && local && same && it.shelf == nullptr) {
    it.shelf = shelf_of(it.person);
    if (it.shelf != nullptr) ++it.shelf->sessions;
  }
  it.events.set_shares(false);  // until the client has mapped it
  to.region = wanted && local && same && it.shelf != nullptr ? it.shelf->id : 0;
}

Sessions::Core::Handled Sessions::Core::on_mapped(Connection& from, ByteView body) {
  Session& it = *from.session;
  if (!body.empty()) return bad_record(from, "a mapped has more than its kind");
  if (from.region == 0) return bad_record(from, "no memory was shared with the client");
  if (it.events.shares()) return bad_record(from, "a second mapped");
  it.events.set_shares(true);
  return Handled::done;
}

const ChunkRef& Sessions::Core::chunk_for(const Session& it) {
  const bool shared = it.events.shares() && it.connection != nullptr && !it.events.spills() &&
                      draft_.size() >= kSharedBytesMin &&
                      it.events.memory_bytes() <= it.shelf->region.bytes() / kBehindPart;
  return shared ? draft_.shared(it.shelf->region) : draft_.plain();
}

/// The session ends, but its client may still read events from the region.
void Sessions::Core::keep_places(const Session& it) {
  Kept kept{now_ + kReadPatience, {}};
  it.events.take_places(kept.chunks);
  if (kept.chunks.empty()) return;
  due(kept.until);
  kept_.push_back(std::move(kept));
}

void Sessions::Core::leave_shelf(Session& it) {
  if (it.shelf == nullptr) return;
  if (--it.shelf->sessions == 0) due(now_);
  it.shelf = nullptr;
}

void Sessions::Core::check_shelves() {
  while (!kept_.empty() && kept_.front().until <= now_) kept_.pop_front();
  if (!kept_.empty()) due(kept_.front().until);
  std::erase_if(shelves_, [this](const auto& shelf) {
    if (shelf->sessions > 0) return false;
    if (shelf->region.bytes_in_use() > 0) {
      due(now_ + kReadPatience);
      return false;
    }
    PEAL_PROBE("session.region_closed");
    host_.close_region(shelf->id);
    return true;
  });
}

RegionId Sessions::Core::region_of(ConnectionId id) {
  const Connection* it = connection(id);
  return it == nullptr ? 0 : it->region;
}

}  // namespace peal::session
