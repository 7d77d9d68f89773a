// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "order/ramcast/parts.h"

namespace peal::order::ramcast {

/// A delivered message whose slot has another one now.
struct Overwritten {
  Seq key{};
  wire::MessageId id{};
  wire::MessageHead head{};
  BufferRef body{};
};

/// Delivered messages that a sender has overwritten, although this server does not know yet that
/// all members have delivered them: a later view may have fewer members.
class OverwrittenMessages {
 public:
  explicit OverwrittenMessages(const Parts& parts)
      : most_(parts.options.overwritten_max(parts.layout.nodes())) {}

  bool has_space(std::size_t count) const { return messages_.size() + count <= most_; }
  bool is_half_full() const { return messages_.size() > most_ / 2; }
  void add(Overwritten message) { messages_.push_back(std::move(message)); }
  /// Removes those up to this key. Returns the largest key of one that was removed, or 0.
  Seq remove(Seq key) {
    Seq last = 0;
    std::erase_if(messages_, [key, &last](const Overwritten& each) {
      if (each.key > key) return false;
      last = std::max(last, each.key);
      return true;
    });
    return last;
  }
  const std::vector<Overwritten>& all() const { return messages_; }

 private:
  const std::size_t most_;
  std::vector<Overwritten> messages_;
};

}  // namespace peal::order::ramcast
