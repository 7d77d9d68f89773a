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

// The state of the slow checker, and its questions about orders.

namespace peal::oracle::test {

using Way = std::pair<ViewId, ViewId>;  // a transitional view
using Position = std::pair<Seq, std::uint32_t>;

struct Sent {
  ViewId view{};
  Position position;  // where it was originated, or first delivered
  std::size_t arrival = 0;
  bool in_view = false;                  // its sender was there
  bool by_sender = true;                 // else it was only delivered yet
  std::vector<trace::MessageId> before;  // what its sender had sent or delivered there
};

struct Submitted {
  Service service{};
  std::uint64_t hash = 0;
  std::optional<ViewId> view;            // where its sender was
  std::vector<trace::MessageId> before;  // what its sender had delivered there
};

struct Stay {  // of a member in a regular view
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
  std::uint64_t last_number = 0;  // originated, or delivered before
  std::uint64_t last_placed = 0;  // originated
};

using Sequence = std::vector<trace::MessageId>;

/// The deliveries of a stay, those in the transitional view last.
Sequence delivered_in(const Stay& stay);
/// True if the union of these orders has a circle.
bool in_a_circle(const std::vector<Sequence>& orders);
/// True if of any two, one is a prefix of the other.
bool beginnings_of_one(const std::vector<Sequence>& sequences);

}  // namespace peal::oracle::test
