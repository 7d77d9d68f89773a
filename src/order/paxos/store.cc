// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/store.h"

#include <cstring>

#include "base/assert.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of values in the history: values without bytes take memory too.
constexpr std::size_t kPastMax = 1U << 20;

}  // namespace

Store::Store(std::uint32_t ahead_max, std::uint64_t history_bytes)
    : ahead_max_(ahead_max), ring_(history_bytes) {}

void Store::begin(Instance next) {
  slots_.clear();
  past_.clear();
  ring_.give_back(ring_.tail());
  next_ = next;
}

void Store::skip_to(Instance next) {
  PEAL_ASSERT(next >= next_);
  while (next_ < next && !slots_.empty()) {
    slots_.pop_front();
    ++next_;
  }
  next_ = next;
  past_.clear();
  ring_.give_back(ring_.tail());
}

Slot* Store::find(Instance instance) {
  if (instance < next_ || instance >= end()) return nullptr;
  return &slots_[instance - next_];
}

const Slot* Store::find(Instance instance) const {
  if (instance < next_ || instance >= end()) return nullptr;
  return &slots_[instance - next_];
}

Slot* Store::make(Instance instance) {
  if (instance < next_ || instance - next_ >= ahead_max_) return nullptr;
  if (instance >= end()) slots_.resize(instance - next_ + 1);
  return &slots_[instance - next_];
}

void Store::consume() {
  PEAL_ASSERT(!slots_.empty() && slots_.front().decided);
  const Value value = slots_.front().heard;
  slots_.pop_front();
  ++next_;
  add_to_history(value.head, value.bytes.view());
}

void Store::add_past(const wire::ValueHead& head, ByteView bytes) {
  PEAL_ASSERT(slots_.empty());
  ++next_;
  add_to_history(head, bytes);
}

void Store::forget_below(Instance oldest) {
  while (!past_.empty() && this->oldest() < oldest) drop_oldest();
}

void Store::drop_oldest() {
  ring_.give_back(past_.front().tail);
  past_.pop_front();
}

std::byte* Store::room_for(std::uint32_t size) {
  for (;;) {
    if (std::byte* bytes = ring_.take(size); bytes != nullptr) return bytes;
    if (past_.empty()) return nullptr;
    drop_oldest();
  }
}

void Store::add_to_history(const wire::ValueHead& head, ByteView bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  if (past_.size() == kPastMax) drop_oldest();
  std::byte* copy = size == 0 ? nullptr : room_for(size);
  if (size != 0) {
    PEAL_ASSERT(copy != nullptr && "the history holds any one value");
    std::memcpy(copy, bytes.data(), size);
  }
  past_.push_back({head, copy, size, ring_.tail()});
}

std::optional<Store::Decided> Store::decided(Instance instance) const {
  if (const Slot* slot = find(instance); slot != nullptr) {
    if (!slot->decided) return std::nullopt;
    return Decided{slot->heard.head, slot->heard.bytes.view()};
  }
  if (instance >= next_ || instance < oldest()) return std::nullopt;
  const Record& record = past_[instance - oldest()];
  return Decided{record.head, {record.bytes, record.size}};
}

Instance Store::undecided() const {
  Instance instance = next_;
  for (const Slot& slot : slots_) {
    if (!slot.decided) break;
    ++instance;
  }
  return instance;
}

void Store::add_to(Digest& digest) const {
  digest.add(next_);
  digest.add(past_.size());
  digest.add(slots_.size());
  for (const Slot& slot : slots_) {
    digest.add(slot.decided ? 1 : 0);
    for (const Round& round : {slot.vote_round, slot.heard_round}) paxos::add_to(digest, round);
    if (slot.vote_round.count != 0) paxos::add_to(digest, slot.vote);
    if (slot.heard_round.count != 0 || slot.decided) paxos::add_to(digest, slot.heard);
  }
}

}  // namespace peal::order::paxos
