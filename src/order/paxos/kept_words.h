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

/// What a node knows of instances that it skipped when it took a later checkpoint. Skipped
/// instances are decided, but perhaps no live node has consumed them. Then a node that lacks their
/// values derives these values from the votes of a majority (recall.h). So an acceptor that skips
/// instances keeps its votes for them.
class KeptWords {
 public:
  /// This node's knowledge of one instance: its vote or the decided value.
  struct Word {
    Round round{};         ///< round of this node's vote; no round: this node did not vote
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
    /// For the instances from `first` on; nothing is known of the instances after the last word.
    std::vector<Kept> words;
    std::vector<std::byte> bytes;

    // How much of this range is in the acceptor's log.
    LogPosition at{};         ///< position of the first record of the range
    std::size_t written = 0;  ///< number of entries of `words` written from `at` on
    bool named = false;       ///< a checkpoint after all records of the range names the range

    Word word(Instance instance) const;
    void add(Instance instance, const Word& word);
    std::uint64_t memory() const { return bytes.size() + words.size() * sizeof(Kept); }
  };

  /// `bytes_max`: limit of the memory of all ranges. New ranges replace the oldest ranges. A range
  /// that alone exceeds the limit is cut at its end.
  explicit KeptWords(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Keeps the store's votes and values of the instances from `first` up to `end` - 1.
  void keep(Instance first, Instance end, const Store& store);
  /// Keeps a range, for example one that was read from the log. Ignores a range that is empty or
  /// too large.
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

/// The vote or the decided value that the store has for the instance.
KeptWords::Word word_of(const Store& store, Instance instance);

}  // namespace peal::order::paxos
