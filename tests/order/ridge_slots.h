// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"

namespace peal::order::ridge::test {

/// Whole engines on a network in which the formulas of the Ridge paper hold exactly. A value
/// occupies its sender's link for one slot and its receiver's link for one slot. The value arrives
/// `delay` slots after it was sent, or later, when the receiver's link is free. Packets without a
/// value occupy no link. Writes to disks take no time. A link sends values in the order in which
/// the engine passed them to it.
class Slots {
 public:
  struct Shape {
    std::uint32_t nodes{};
    std::uint32_t faults{};  ///< f of the 2f+1 acceptors may fail
    std::int64_t delay{};    ///< of each packet, in slots
    Dissemination dissemination = Dissemination::distributors;
    std::uint32_t ensembles = 1;
    Merging merging = Merging::keys;
  };
  /// An empty value, as the coordinator of an ensemble first proposes it.
  struct Nothing {
    std::int64_t slot{};  ///< time of the proposal
    std::uint32_t node{};
    std::uint64_t cluster{};  ///< identifies the ensemble
    std::uint64_t key{};      ///< the key that is proposed for the empty value
  };

  explicit Slots(const Shape& shape);
  ~Slots();

  /// Runs until all nodes are in one view, and then for 200 ms, until no value is in flight.
  void settle();
  /// The application at `node` sends `count` values, one every `apart` slots. Runs until all nodes
  /// have delivered all values. Node 1 coordinates the first ensemble.
  void send(std::uint32_t count, std::uint32_t node = 1, std::int64_t apart = 1);
  /// The node crashes; runs until the other nodes are in a view without it.
  void crash(std::uint32_t node);
  /// Runs for `slots` slots without new values. Returns how many packets all nodes sent meanwhile;
  /// link checks do not count.
  std::uint64_t rest(std::int64_t slots);

  /// For each value, in the order of sending: number of slots from the sending until all nodes
  /// delivered it.
  const std::vector<std::int64_t>& latencies() const { return latencies_; }
  /// Number of slots from the time when all nodes had delivered the first value, until the time
  /// when all nodes had delivered the last value.
  std::int64_t span() const { return span_; }
  /// The number of records in an acceptor's log.
  std::size_t records_of(std::uint32_t node) const;
  /// All proposed empty values.
  const std::vector<Nothing>& nothings() const { return nothings_; }
  /// How often any value was sent from one node to another, since send() was called.
  std::uint64_t copies() const { return copies_; }

 private:
  class Node;
  struct Arrival {
    std::int64_t at{};
    std::uint64_t number{};  ///< determines the order of events that have the same time
    std::uint32_t to{};
    bool waits = false;  ///< the packet waits for the receiver's link
    /// Empty for two events: the node's timer fires (`waits` is false), or the node's link becomes
    /// free (`waits` is true).
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
  std::vector<std::unique_ptr<Node>> nodes_;  ///< index: the node's number, from 1; [0] is null
  std::vector<std::int64_t> sent_at_;
  std::vector<std::int64_t> latencies_;
  std::vector<std::uint32_t> delivered_;     ///< for each value: how many nodes delivered it
  std::vector<std::uint32_t> delivered_by_;  ///< for each node: how many values it delivered
  std::vector<Nothing> nothings_;
  std::uint32_t crashed_ = 0;
  std::uint64_t done_ = 0;  ///< deliveries at all nodes together
  std::int64_t first_at_ = 0;
  std::int64_t span_ = 0;
  std::uint64_t copies_ = 0;
  std::uint64_t packets_ = 0;
};

}  // namespace peal::order::ridge::test
