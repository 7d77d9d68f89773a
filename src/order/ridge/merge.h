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

/// Makes one sequence of several, whose items come with ascending keys: by key, and of equal keys
/// the one of the lower stream first. An item comes out as soon as no stream can still bring one
/// that belongs before it, so the sequence depends on nothing but the streams: not on when which of
/// them brought what. Section 9 of the design of Ridge; two streams may have equal keys (E5).
template <class Item>
class Merge {
 public:
  explicit Merge(std::size_t streams) : streams_(streams) {}

  std::size_t streams() const { return streams_.size(); }
  /// Its next item; `key` is above all of this stream so far.
  void push(std::size_t stream, std::uint64_t key, Item item) {
    Stream& to = streams_[stream];
    PEAL_ASSERT(to.waiting.empty() || to.waiting.back().first < key);
    to.waiting.emplace_back(key, std::move(item));
    to.key = key;
  }
  /// Whatever it brings from now on has a key above this one.
  void advance(std::size_t stream, std::uint64_t key) {
    streams_[stream].key = std::max(streams_[stream].key, key);
  }
  /// The item of the stream with this key, if it is the last so far; else null.
  Item* last(std::size_t stream, std::uint64_t key) {
    auto& waiting = streams_[stream].waiting;
    return waiting.empty() || waiting.back().first != key ? nullptr : &waiting.back().second;
  }
  std::size_t waiting(std::size_t stream) const { return streams_[stream].waiting.size(); }

  /// The stream whose first item comes next; nothing as long as that is open.
  std::optional<std::size_t> next() const {
    std::size_t least = 0;
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      if (bound(i) < bound(least)) least = i;
    }
    if (streams_[least].waiting.empty()) return std::nullopt;
    return least;
  }
  /// A stream that has an item, whether it comes next or not.
  std::optional<std::size_t> any() const {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (!streams_[i].waiting.empty()) return i;
    }
    return std::nullopt;
  }
  /// The key of its first item; there is one.
  std::uint64_t key(std::size_t stream) const { return streams_[stream].waiting.front().first; }
  /// Takes the first item of that stream.
  Item pop(std::size_t stream) {
    Item item = std::move(streams_[stream].waiting.front().second);
    streams_[stream].waiting.pop_front();
    return item;
  }
  /// The stream that items of others wait for; nothing if none wait.
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
    std::uint64_t key = 0;  ///< of all that it brings, the last so far
    std::deque<std::pair<std::uint64_t, Item>> waiting;
  };
  /// What it brings next has at least this key.
  std::uint64_t bound(std::size_t stream) const {
    const Stream& of = streams_[stream];
    return of.waiting.empty() ? of.key + 1 : of.waiting.front().first;
  }

  std::vector<Stream> streams_;
};

}  // namespace peal::order::ridge
