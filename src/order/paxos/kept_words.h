// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/digest.h"
#include "order/paxos/peers.h"
#include "order/paxos/records.h"
#include "order/paxos/store.h"
#include "port/log.h"

namespace peal::order::paxos {

/// What a node knew of instances that it skipped when it took a later checkpoint. Skipped instances
/// are decided, but perhaps no live node has consumed them. Then a node that lacks their values
/// derives them from the votes of a majority (recall.h). So an acceptor that skips instances keeps
/// its votes for them.
class KeptWords {
 public:
  /// What is known of one instance.
  struct Word {
    Round round{};         ///< of this node's vote; no round: it did not vote
    bool decided = false;  ///< `head` and `bytes` are the decided value
    wire::ValueHead head;
    ByteView bytes;  ///< valid until this object changes

    bool says_nothing() const { return !decided && round.count == 0; }
  };
  struct Kept {
    Round round{};
    bool decided = false;
    wire::ValueHead head;
    std::size_t at = 0;  ///< offset in the range's bytes
    std::size_t size = 0;
  };
  struct Range {
    Instance first = 0;
    Instance end = 0;
    std::vector<Kept> words;  ///< from `first` up; nothing is known of instances after the last one
    std::vector<std::byte> bytes;

    // How much of this range is in the acceptor's log.
    LogPosition at{};         ///< position of the first record of the range
    std::size_t written = 0;  ///< entries of `words` written from `at` on
    bool named = false;       ///< a checkpoint after all records of the range names it

    Word word(Instance instance) const;
    void add(Instance instance, const Word& word);
    std::uint64_t memory() const { return bytes.size() + words.size() * sizeof(Kept); }
  };

  /// `bytes_max`: limit of what is kept. New ranges replace the oldest; a range that alone exceeds
  /// the limit is cut at its end.
  explicit KeptWords(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Keeps what the store knows of the instances from `first` to below `end`.
  void keep(Instance first, Instance end, const Store& store);
  /// Keeps a range, for example as read from the log. Ignores an empty or too large one.
  void keep(Range range);
  std::uint64_t bytes_max() const { return bytes_max_; }
  /// Drops ranges that no node can need any more: each other node of the list has consumed all of
  /// the range, knows no order, or leaves.
  void look(const Peers& peers);
  std::optional<Word> find(Instance instance) const;

  std::deque<Range>& ranges() { return ranges_; }
  const std::deque<Range>& ranges() const { return ranges_; }

  void add_to(Digest& digest) const;

  static constexpr std::size_t kRangesMax = Record::kRangesMax;

 private:
  std::uint64_t bytes_max_;
  std::deque<Range> ranges_;  ///< the oldest first
};

/// What the store knows of an instance that it still has.
KeptWords::Word word_of(const Store& store, Instance instance);

}  // namespace peal::order::paxos
