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

/// Merges several streams whose items have ascending keys. The merged order is by key, and among
/// equal keys by the number of the stream. An item is output as soon as no stream can still bring
/// an item that belongs before it. So the merged order depends only on the streams, not on when
/// each brought its items. Section 9 of the design of Ridge; two streams may have equal keys (E5).
template <class Item>
class Merge {
 public:
  explicit Merge(std::size_t streams) : streams_(streams) {}

  std::size_t streams() const { return streams_.size(); }
  /// The stream's next item; `key` is above all earlier ones of this stream.
  void push(std::size_t stream, std::uint64_t key, Item item) {
    Stream& to = streams_[stream];
    PEAL_ASSERT(to.waiting.empty() || to.waiting.back().first < key);
    to.waiting.emplace_back(key, std::move(item));
    to.key = key;
  }
  /// All later items of the stream have keys above this one.
  void advance(std::size_t stream, std::uint64_t key) {
    streams_[stream].key = std::max(streams_[stream].key, key);
  }
  /// The stream's last waiting item, if it has this key; else null.
  Item* last(std::size_t stream, std::uint64_t key) {
    auto& waiting = streams_[stream].waiting;
    return waiting.empty() || waiting.back().first != key ? nullptr : &waiting.back().second;
  }
  std::size_t waiting(std::size_t stream) const { return streams_[stream].waiting.size(); }

  /// The stream with the first item of the order; nullopt while the first item is undetermined.
  std::optional<std::size_t> next() const {
    std::size_t least = 0;
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      if (bound(i) < bound(least)) least = i;
    }
    if (streams_[least].waiting.empty()) return std::nullopt;
    return least;
  }
  /// A stream that has an item, whether or not the item is the next of the order.
  std::optional<std::size_t> any() const {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (!streams_[i].waiting.empty()) return i;
    }
    return std::nullopt;
  }
  /// The key of the stream's first item, which must exist.
  std::uint64_t key(std::size_t stream) const { return streams_[stream].waiting.front().first; }
  /// Removes the first item of that stream.
  Item pop(std::size_t stream) {
    Item item = std::move(streams_[stream].waiting.front().second);
    streams_[stream].waiting.pop_front();
    return item;
  }
  /// The stream for which items of other streams wait; nullopt if none wait.
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
    std::uint64_t key = 0;  ///< key of the last item so far, or a larger one from advance()
    std::deque<std::pair<std::uint64_t, Item>> waiting;
  };
  /// The stream's next item has at least this key.
  std::uint64_t bound(std::size_t stream) const {
    const Stream& of = streams_[stream];
    return of.waiting.empty() ? of.key + 1 : of.waiting.front().first;
  }

  std::vector<Stream> streams_;
};

}  // namespace peal::order::ridge
