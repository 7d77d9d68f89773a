// SPDX-License-Identifier: Apache-2.0
#include "group/traffic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/random.h"

// What is known of messages, against sets of messages.

namespace peal::group {
namespace {

const ViewId kView{7, {NodeId{1}, 100}};
const ViewId kNext{8, {NodeId{1}, 100}};

/// Some messages of one view, and which of them one part delivered: all up to a place, and in its
/// transitional view some others.
using Messages = std::vector<std::set<std::string>>;  ///< their names
struct Part {
  std::size_t upto = 0;
  std::set<std::size_t> late;
  bool has(std::size_t message) const { return message < upto || late.contains(message); }
};

Messages random_messages(Random& random) {
  Messages all(random.below(12));
  for (auto& names : all) {
    for (std::uint64_t n = 1 + random.below(2); n > 0; --n) {
      names.insert(std::string(1, static_cast<char>('f' + random.below(4))));
    }
  }
  return all;
}

Part random_part(Random& random, std::size_t messages) {
  Part part;
  part.upto = random.below(messages + 1);
  for (std::size_t i = part.upto; i < messages; ++i) {
    if (random.chance(0.4)) part.late.insert(i);
  }
  return part;
}

/// Several messages have one position.
Place place_of(std::size_t message) {
  return {1 + message / 2, static_cast<std::uint32_t>(message % 2)};
}

Traffic known_to(const Messages& messages, const Part& part) {
  TrafficLog log(0);
  log.begin(kView);
  TrafficMark marks[4];
  for (std::size_t i = 0; i < messages.size(); ++i) {
    for (const std::string& name : messages[i]) {
      if (i < part.upto) {
        log.note(name, place_of(i), name > "g" ? nullptr : &marks[name[0] - 'f']);
      } else if (part.late.contains(i)) {
        log.note_late(name, place_of(i));
      }
    }
  }
  log.begin(kNext);
  return log.known();
}

std::set<std::string> names_of(const Missed& missed) {
  EXPECT_FALSE(missed.every_name);
  return {missed.names.begin(), missed.names.end()};
}

TEST(Traffic, IsExactHoweverPartsDeliverTheEndOfAView) {
  std::uint64_t gaps = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    Random random(seed);
    const Messages messages = random_messages(random);
    std::vector<Part> parts;
    std::vector<Traffic> known;
    for (int i = 0; i < 3; ++i) {
      parts.push_back(random_part(random, messages.size()));
      known.push_back(known_to(messages, parts.back()));
    }
    Traffic all, reverse;
    for (int i = 0; i < 3; ++i) join(all, known[static_cast<std::size_t>(i)]);
    for (int i = 2; i >= 0; --i) join(reverse, known[static_cast<std::size_t>(i)]);
    ASSERT_EQ(all, reverse) << seed;
    for (std::size_t own = 0; own < 3; ++own) {
      std::set<std::string> wanted;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const bool somewhere = parts[0].has(i) || parts[1].has(i) || parts[2].has(i);
        if (somewhere && !parts[own].has(i)) wanted.insert(messages[i].begin(), messages[i].end());
      }
      ASSERT_EQ(names_of(missed(all, known[own])), wanted) << seed;
      ++(wanted.empty() ? none : gaps);
    }
    // Two have met before they meet the third: they miss what neither had.
    Traffic two = known[0];
    join(two, known[1]);
    std::set<std::string> wanted;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (parts[2].has(i) && !parts[0].has(i) && !parts[1].has(i)) {
        wanted.insert(messages[i].begin(), messages[i].end());
      }
    }
    ASSERT_EQ(names_of(missed(all, two)), wanted) << seed;
  }
  EXPECT_GT(gaps, 1'000U);
  EXPECT_GT(none, 1'000U);
}

/// With too many names it is not known which; that something was missed still is.
TEST(Traffic, WithoutNamesItIsKnownWhetherAnythingWasMissed) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Random random(seed);
    const Messages messages = random_messages(random);
    const Part one = random_part(random, messages.size());
    const Part other = random_part(random, messages.size());
    const Traffic exact = known_to(messages, one);
    Traffic vague = exact;
    const std::size_t least = bytes_of(Traffic()) + 41;  // one view without names
    shrink(vague, least);
    ASSERT_LE(bytes_of(vague), least);
    const Traffic own = known_to(messages, other);
    bool any = false;
    for (std::size_t i = 0; i < messages.size(); ++i) any = any || (one.has(i) && !other.has(i));
    if (any) {
      EXPECT_FALSE(missed(vague, own).empty()) << seed;
    }
    if (one.upto <= other.upto && one.late.empty()) {
      EXPECT_TRUE(missed(vague, own).empty()) << seed;
    }
    EXPECT_TRUE(missed(vague, vague).empty());
    EXPECT_TRUE(missed(vague, exact).empty()) << seed << ": the same messages";
  }
}

TEST(Traffic, ViewsAreForgottenOldestFirstAndMissedByWhoDoesNotKnowThem) {
  Traffic full;
  for (std::uint64_t number = 1; number <= kTrafficViewsMax; ++number) {
    ViewTraffic view;
    view.view = {number, {NodeId{1}, 1}};
    view.upto = {1, 0};
    view.names = {{"g", 1}};
    full.views.push_back(view);
  }
  Traffic more = full;
  ViewTraffic view = full.views.back();
  view.view.number += 1;
  Traffic last;
  last.views.push_back(view);
  join(more, last);
  EXPECT_EQ(more.views.size(), kTrafficViewsMax);
  EXPECT_EQ(more.views.front().view.number, 2U);
  EXPECT_NE(more.forgotten, 0U);
  EXPECT_TRUE(missed(more, full).every_name) << "it cannot be told that the first is known there";
  EXPECT_TRUE(missed(more, more).empty());
}

TEST(Traffic, NamesAreGivenUpOldestFirst) {
  Traffic some;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Traffic one;
    ViewTraffic view;
    view.view = {number, {NodeId{1}, 1}};
    view.upto = {1, 0};
    for (std::size_t i = 0; i < kTrafficNamesMax / 2; ++i) {
      view.names.push_back({"g" + std::to_string(10'000 + i), 1});
    }
    one.views.push_back(view);
    join(some, one);
  }
  EXPECT_TRUE(some.views[0].every_name);
  EXPECT_FALSE(some.views[1].every_name || some.views[2].every_name);
  Traffic knows_first;
  knows_first.views.push_back(some.views[0]);
  EXPECT_FALSE(missed(some, knows_first).contains("other"));
  EXPECT_TRUE(missed(some, knows_first).contains("g10000"));
  EXPECT_TRUE(missed(some, Traffic()).contains("other"));
}

}  // namespace
}  // namespace peal::group
