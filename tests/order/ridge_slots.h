// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"

namespace peal::order::ridge::test {

/// Whole engines on a network in which the paper's formulas hold exactly. Sending a value takes its
/// sender's link one slot and the receiver's link one slot. It arrives `delay` slots after it was
/// sent, or when the receiver's link is free. Packets without a value cost nothing. Disks take no
/// time. Values are sent in the order of the engines' calls.
class Slots {
 public:
  struct Shape {
    std::uint32_t nodes{};
    std::uint32_t faults{};  ///< so many acceptors may fail; there are twice as many and one
    std::int64_t delay{};    ///< slots
    Dissemination dissemination = Dissemination::distributors;
    std::uint32_t ensembles = 1;
    Merging merging = Merging::keys;
  };
  /// Nothing, as the coordinator of an ensemble proposes it first.
  struct Nothing {
    std::int64_t slot{};  ///< when
    std::uint32_t node{};
    std::uint64_t cluster{};  ///< which ensemble it is
    std::uint64_t key{};      ///< that it is to have
  };

  explicit Slots(const Shape& shape);
  ~Slots();

  /// Runs until all nodes are in one view, and no packet is in flight.
  void settle();
  /// The coordinator's application, of the first ensemble, or another node's, sends `count` values,
  /// one in each `apart` slots; runs until all nodes have delivered all.
  void send(std::uint32_t count, std::uint32_t node = 1, std::int64_t apart = 1);
  /// The node is gone; runs until the others are in a view without it.
  void crash(std::uint32_t node);
  /// Lets so many slots pass without input. Returns the number of packets sent in them.
  std::uint64_t rest(std::int64_t slots);

  /// Of each value, in their order: slots from when it was sent until the last node delivered it.
  const std::vector<std::int64_t>& latencies() const { return latencies_; }
  /// Slots from when all nodes had the first value until all had the last one.
  std::int64_t span() const { return span_; }
  /// The number of records in an acceptor's log.
  std::size_t records_of(std::uint32_t node) const;
  /// All proposed empty values.
  const std::vector<Nothing>& nothings() const { return nothings_; }
  /// Transmissions of a value from one node to another.
  std::uint64_t copies() const { return copies_; }

 private:
  class Node;
  struct Arrival {
    std::int64_t at{};
    std::uint64_t number{};  ///< events of one time are handled in the order in which they were
                             ///< planned
    std::uint32_t to{};
    bool waits = false;  ///< for the receiver's link
    /// None: the node's timer, or, if it waits, the link of the node is free.
    std::vector<std::byte> packet;
    bool operator<(const Arrival& other) const {
      return at != other.at ? at < other.at : number < other.number;
    }
  };

  void post(std::uint32_t from, std::uint32_t to, const BufferRef& packet);
  bool step();
  void take_next(Node& node, std::uint32_t number);
  void wake(Node& node, std::uint32_t number);
  Instant now() const { return {now_}; }
  void note_nothing(std::uint32_t from, const BufferRef& packet);
  void note_delivery(std::uint32_t node);
  bool all_in_a_view_of(std::uint32_t members) const;
  std::uint32_t alive() const { return shape_.nodes - crashed_; }

  Shape shape_;
  std::int64_t now_ = 1'000'000'000;  ///< nanoseconds
  std::uint64_t number_ = 0;
  std::set<Arrival> events_;
  std::vector<std::unique_ptr<Node>> nodes_;  ///< by number, from 1 on
  std::vector<std::int64_t> sent_at_;
  std::vector<std::int64_t> latencies_;
  std::vector<std::uint32_t> delivered_;     ///< by value: nodes that delivered it
  std::vector<std::uint32_t> delivered_by_;  ///< by node: values
  std::vector<Nothing> nothings_;
  std::uint32_t crashed_ = 0;
  std::uint64_t done_ = 0;  ///< deliveries of all
  std::int64_t first_at_ = 0;
  std::int64_t span_ = 0;
  std::uint64_t copies_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace peal::order::ridge::test
