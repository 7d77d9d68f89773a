// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "session/context.h"
#include "session/region.h"
#include "session/registry.h"

namespace peal::session {

/// Memory that all clients with the same rights read; `person` has these rights.
struct SharedRegion {
  SharedRegion(RegionId its_id, Person whose, ByteSpan memory)
      : id(its_id), person(std::move(whose)), region(memory) {}
  RegionId id;
  Person person;
  Region region;
  std::uint32_t sessions = 0;
};

/// All regions: which persons read each region, and how long regions and their events must stay.
class SharedRegions {
 public:
  explicit SharedRegions(Context& context) : context_(context) {}

  /// Decides whether the client may read from a region, and records the decision in `link`.
  /// `wanted`: true if the client can read from a region, according to its hello.
  void attach(Session& it, Link& link, bool wanted);
  /// Keeps the unseen events of an ending session in the region for one second, because the client
  /// may still read them.
  void keep_places(const Session& it);
  void leave(Session& it);
  /// Closes regions that no client reads any more.
  void check();

  std::uint64_t count() const { return regions_.size(); }
  std::uint64_t bytes() const;
  std::uint64_t bytes_in_use() const;
  void check_invariants(const Registry& registry) const;

 private:
  /// Events that clients may still read in a region after their sessions ended.
  struct Kept {
    Instant until;
    std::vector<ChunkRef> chunks;
  };
  SharedRegion* region_for(const Person& person);

  Context& context_;
  std::vector<std::unique_ptr<SharedRegion>> regions_;
  std::deque<Kept> kept_;
  RegionId next_ = 1;
};

}  // namespace peal::session
