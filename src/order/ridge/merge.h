// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal::order::ridge {

/// Merges several streams whose items have ascending keys. The merged order is by key; items with
/// equal keys are ordered by the number of their stream. An item is output as soon as no stream can
/// still bring an item that belongs before it. So the merged order depends only on the contents of
/// the streams, not on the time at which items arrive. See section 9 of the design of Ridge. Two
/// streams may have equal keys (README.md, E5).
template <class Item>
class Merge {
 public:
  explicit Merge(std::size_t streams) : streams_(streams) {}

  std::size_t streams() const { return streams_.size(); }
  /// Adds the stream's next item. `key` must be above all earlier keys of this stream.
  void push(std::size_t stream, std::uint64_t key, Item item) {
    Stream& to = streams_[stream];
    PEAL_ASSERT(to.waiting.empty() || to.waiting.back().first < key);
    to.waiting.emplace_back(key, std::move(item));
    to.key = key;
  }
  /// Notes that all later items of the stream have keys above `key`.
  void advance(std::size_t stream, std::uint64_t key) {
    streams_[stream].key = std::max(streams_[stream].key, key);
  }
  /// The stream's last waiting item if it has this key; otherwise null.
  Item* last(std::size_t stream, std::uint64_t key) {
    auto& waiting = streams_[stream].waiting;
    return waiting.empty() || waiting.back().first != key ? nullptr : &waiting.back().second;
  }
  std::size_t waiting(std::size_t stream) const { return streams_[stream].waiting.size(); }

  /// The stream whose first item is the next item of the merged order; nullopt while the next item
  /// is not determined.
  std::optional<std::size_t> next() const {
    std::size_t least = 0;
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      if (bound(i) < bound(least)) least = i;
    }
    if (streams_[least].waiting.empty()) return std::nullopt;
    return least;
  }
  /// A stream that has an item, even if this item is not the next item of the merged order.
  std::optional<std::size_t> any() const {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (!streams_[i].waiting.empty()) return i;
    }
    return std::nullopt;
  }
  /// The key of the stream's first item, which must exist.
  std::uint64_t key(std::size_t stream) const { return streams_[stream].waiting.front().first; }
  /// Removes the first item of the stream, and returns it.
  Item pop(std::size_t stream) {
    Item item = std::move(streams_[stream].waiting.front().second);
    streams_[stream].waiting.pop_front();
    return item;
  }
  /// The stream for which the items of other streams wait; nullopt if no item waits for a stream.
  std::optional<std::size_t> awaited() const {
    bool any = false;
    std::size_t least = 0;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      any = any || !streams_[i].waiting.empty();
      if (bound(i) < bound(least)) least = i;
    }
    if (!any || !streams_[least].waiting.empty()) return std::nullopt;
    return least;
  }

 private:
  struct Stream {
    std::uint64_t key = 0;  ///< key of the last item from push(), or a larger key from advance()
    std::deque<std::pair<std::uint64_t, Item>> waiting;
  };
  /// Lower bound of the key of the stream's next item.
  std::uint64_t bound(std::size_t stream) const {
    const Stream& of = streams_[stream];
    return of.waiting.empty() ? of.key + 1 : of.waiting.front().first;
  }

  std::vector<Stream> streams_;
};

}  // namespace peal::order::ridge
