// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/event.h"

// The state of the slow checker, and its functions that compare orders.

namespace peal::oracle::test {

using Way = std::pair<ViewId, ViewId>;  // a transitional view: the old view and the next
using Position = std::pair<Seq, std::uint32_t>;

struct Sent {
  ViewId view{};
  Position position;  // where it was originated, or first delivered
  std::size_t arrival = 0;
  bool in_view = false;                  // the sender was in the view
  bool by_sender = true;                 // false: only others' deliveries are known
  std::vector<trace::MessageId> before;  // what the sender sent or delivered there before
};

struct Submitted {
  Service service{};
  std::uint64_t hash = 0;
  std::optional<ViewId> view;            // where its sender was
  std::vector<trace::MessageId> before;  // what its sender had delivered there
};

// The time of one member in one regular view.
struct Stay {
  MemberId member{};
  ViewId view{};
  std::optional<ViewId> from;
  std::optional<Way> way;
  std::optional<ViewId> next;
  std::vector<trace::MessageId> regular, tail, sent;
  std::map<trace::MessageId, Position> places;  // of the deliveries
};

struct Life {
  bool seen = false, ended = false, left = false;
  std::vector<std::size_t> stays;
  bool in_transit = false;
  std::set<trace::MessageId> delivered;
  std::uint64_t last_number = 0;  // highest own number originated, or delivered before
  std::uint64_t last_placed = 0;  // highest own number originated
};

using Sequence = std::vector<trace::MessageId>;

/// The deliveries of a stay, those in the transitional view last.
Sequence delivered_in(const Stay& stay);
/// True if the union of these orders has a cycle.
bool in_a_circle(const std::vector<Sequence>& orders);
/// True if, of any two sequences, one is a prefix of the other.
bool beginnings_of_one(const std::vector<Sequence>& sequences);

}  // namespace peal::oracle::test
