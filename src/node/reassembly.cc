// SPDX-License-Identifier: Apache-2.0
#include "node/reassembly.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace peal::node {
namespace {

constexpr std::uint64_t kCapacityMin = 16 * 1'024;

}  // namespace

Reassembly::Reassembly() { partials_.reserve(wire::kMembersMax); }

Reassembly::Fed Reassembly::feed(MemberId origin, const Chunk& chunk) {
  if (chunk.whole()) {
    if (Partial* partial = find(origin); partial != nullptr) drop(*partial);
    return Fed::whole;
  }
  if (chunk.first) {
    Partial* partial = find_or_add(origin);
    if (partial == nullptr) return Fed::ignored;
    drop(*partial);
    partial->number = chunk.number;
    partial->service = chunk.service;
    partial->total = chunk.total;
    append(*partial, chunk.bytes);
    return Fed::open;
  }

  Partial* partial = find(origin);
  if (partial == nullptr || partial->number == 0) return Fed::ignored;
  const bool fits = chunk.bytes.size() <= partial->total - partial->received;
  const bool ends = chunk.bytes.size() == partial->total - partial->received;
  if (chunk.number != partial->number || chunk.offset != partial->received ||
      chunk.service != partial->service || !fits || chunk.last != ends) {
    drop(*partial);
    return Fed::ignored;
  }
  append(*partial, chunk.bytes);
  if (!chunk.last) return Fed::open;
  bytes_ -= partial->capacity;
  done_ = Gathered{std::move(partial->memory), partial->total};
  partials_.erase(partials_.begin() + (partial - partials_.data()));
  return Fed::complete;
}

Gathered Reassembly::take() { return std::move(done_); }

void Reassembly::give_back(Gathered message) {
  if (message.bytes == nullptr || message.size > kSpareBytesMax) return;
  if (spares_.size() == kSparesMax) spares_.erase(spares_.begin());
  spares_.push_back(std::move(message));
}

/// The messages of one sender often have the same length, so only a spare of exactly `bytes` bytes
/// is used.
std::unique_ptr<std::byte[]> Reassembly::take_spare(std::uint32_t bytes) {
  for (std::size_t i = spares_.size(); i > 0; --i) {
    if (spares_[i - 1].size != bytes) continue;
    std::unique_ptr<std::byte[]> memory = std::move(spares_[i - 1].bytes);
    spares_.erase(spares_.begin() + static_cast<std::ptrdiff_t>(i - 1));
    return memory;
  }
  return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}

void Reassembly::clear() {
  partials_.clear();
  bytes_ = 0;
}

Reassembly::Partial* Reassembly::find(MemberId origin) {
  const auto at = std::lower_bound(
      partials_.begin(), partials_.end(), origin,
      [](const Partial& partial, const MemberId& id) { return partial.origin < id; });
  return at != partials_.end() && at->origin == origin ? &*at : nullptr;
}

Reassembly::Partial* Reassembly::find_or_add(MemberId origin) {
  if (Partial* partial = find(origin); partial != nullptr) return partial;
  drop_former(origin);
  if (partials_.size() == wire::kMembersMax) return nullptr;
  const auto at = std::lower_bound(
      partials_.begin(), partials_.end(), origin,
      [](const Partial& partial, const MemberId& id) { return partial.origin < id; });
  Partial fresh;
  fresh.origin = origin;
  return &*partials_.insert(at, std::move(fresh));
}

/// What a former incarnation of the node has begun does not end any more.
void Reassembly::drop_former(MemberId origin) {
  std::erase_if(partials_, [&](Partial& partial) {
    const bool former = partial.origin.node == origin.node && partial.origin.epoch < origin.epoch;
    if (former) drop(partial);
    return former;
  });
}

void Reassembly::append(Partial& partial, ByteView bytes) {
  const std::uint64_t needed = partial.received + bytes.size();
  PEAL_ASSERT(needed <= partial.total);
  if (needed > partial.capacity) {
    const std::uint64_t wanted =
        std::max({needed, std::uint64_t{partial.capacity} * 4, kCapacityMin});
    const auto capacity =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, partial.total));
    std::unique_ptr<std::byte[]> memory = take_spare(capacity);
    if (partial.received > 0) std::memcpy(memory.get(), partial.memory.get(), partial.received);
    partial.memory = std::move(memory);
    bytes_ += capacity - partial.capacity;
    partial.capacity = capacity;
  }
  std::memcpy(partial.memory.get() + partial.received, bytes.data(), bytes.size());
  partial.received = static_cast<std::uint32_t>(needed);
}

void Reassembly::drop(Partial& partial) {
  if (partial.number == 0) return;
  ++drops_;
  bytes_ -= partial.capacity;
  partial.memory.reset();
  partial.number = 0;
  partial.received = partial.capacity = 0;
}

void Reassembly::check_invariants(std::uint32_t message_bytes_max) const {
  std::uint64_t bytes = 0;
  for (const Partial& partial : partials_) {
    PEAL_ASSERT(&partial == partials_.data() || (&partial - 1)->origin < partial.origin);
    PEAL_ASSERT(partial.received <= partial.capacity && partial.capacity <= message_bytes_max);
    PEAL_ASSERT((partial.number == 0) == (partial.capacity == 0));
    PEAL_ASSERT(partial.number == 0 || partial.received < partial.total);
    bytes += partial.capacity;
  }
  PEAL_ASSERT(bytes == bytes_ && partials_.size() <= wire::kMembersMax);
}

void Reassembly::add_to(Digest& digest) const {
  for (const Partial& partial : partials_) {
    if (partial.number == 0) continue;
    digest.add(partial.origin.node.value);
    digest.add(partial.origin.epoch);
    digest.add(partial.number);
    digest.add(partial.received);
  }
  digest.add(drops_);
}

}  // namespace peal::node
