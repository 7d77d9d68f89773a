// SPDX-License-Identifier: Apache-2.0
#include "group/traffic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/random.h"

// Compares Traffic, the knowledge about messages, with plain sets of messages.

namespace peal::group {
namespace {

const ViewId kView{7, {NodeId{1}, 100}};
const ViewId kNext{8, {NodeId{1}, 100}};

/// Messages of one view: for each message, the names to which it is sent.
using Messages = std::vector<std::set<std::string>>;
/// The messages that one part of the members delivered: all before `upto`, and the `late` messages
/// in its transitional view.
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

/// Each position has two messages.
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

Traffic together(const std::vector<Traffic>& parts) {
  Traffic all;
  meet(parts, 0, all);
  return all;
}

/// The messages that `all` knows and `own` does not know.
Missed missed(const Traffic& all, const Traffic& own) {
  Traffic either;
  return meet({all, own}, 1, either);
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
    const Traffic all = together(known);
    ASSERT_EQ(all, together({known[2], known[1], known[0]})) << seed;
    for (std::size_t own = 0; own < 3; ++own) {
      std::set<std::string> wanted;
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const bool somewhere = parts[0].has(i) || parts[1].has(i) || parts[2].has(i);
        if (somewhere && !parts[own].has(i)) wanted.insert(messages[i].begin(), messages[i].end());
      }
      ASSERT_EQ(names_of(missed(all, known[own])), wanted) << seed;
      ++(wanted.empty() ? none : gaps);
    }
    // Parts 0 and 1 meet before they meet part 2. They miss the messages of part 2 that both of
    // them lack.
    const Traffic two = together({known[0], known[1]});
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

/// Knowledge without names does not show which names missed messages. It still shows whether any
/// name missed messages.
TEST(Traffic, WithoutNamesItIsKnownWhetherAnythingWasMissed) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Random random(seed);
    const Messages messages = random_messages(random);
    const Part one = random_part(random, messages.size());
    const Part other = random_part(random, messages.size());
    const Traffic exact = known_to(messages, one);
    Traffic vague = exact;
    const std::size_t least = bytes_of(Traffic()) + 41;  // the size of one view without names
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

/// Late messages are distinguished even without their names. The common knowledge of two parts does
/// not depend on the order of the parts.
TEST(Traffic, WithoutNamesPartsKnowTheSameTogetherInEitherOrder) {
  Messages messages(6);
  for (auto& names : messages) names = {"f", "g"};
  const auto vague = [&](const Part& part) {
    Traffic known = known_to(messages, part);
    shrink(known, bytes_of(Traffic()) + 41);
    return known;
  };
  const Traffic one = vague({2, {3, 5}}), other = vague({2, {4}}), none = vague({2, {}});
  EXPECT_EQ(together({one, other}), together({other, one}));
  EXPECT_NE(together({one, other}), one);
  EXPECT_NE(together({one, other}), other);
  EXPECT_EQ(together({one, none}), one);
  EXPECT_EQ(together({none, one}), one);
  EXPECT_FALSE(missed(other, one).empty());
  EXPECT_FALSE(missed(one, other).empty());
  EXPECT_FALSE(missed(one, none).empty());
  EXPECT_TRUE(missed(none, one).empty());
}

/// A log that drops its names when late messages arrive still knows exactly which messages are
/// late.
TEST(Traffic, ALogWithoutNamesKnowsItsLateMessages) {
  const auto late_part = [](std::size_t names, std::size_t late) {
    TrafficLog log(0);
    log.begin(kView);
    for (std::size_t i = 0; i < names; ++i) log.note("n" + std::to_string(i), place_of(i), nullptr);
    for (std::size_t i = names; i < kTrafficNamesMax; ++i) log.note("n0", place_of(i), nullptr);
    for (std::size_t i = 0; i < late; ++i) {
      for (const char* name : {"f", "g"}) log.note_late(name, place_of(kTrafficNamesMax + 5 + i));
    }
    log.begin(kNext);
    return log.known();
  };
  const Traffic exact = late_part(3, 2), vague = late_part(kTrafficNamesMax, 2);
  ASSERT_FALSE(exact.views[0].every_name);
  ASSERT_TRUE(vague.views[0].every_name);
  EXPECT_TRUE(missed(exact, vague).empty());
  EXPECT_TRUE(missed(vague, exact).empty());
  EXPECT_FALSE(missed(late_part(3, 3), vague).empty());
  EXPECT_FALSE(missed(vague, late_part(3, 1)).empty());
}

TEST(Traffic, ViewsAreForgottenOldestFirstAndMissedByWhoDoesNotKnowThem) {
  Traffic full, more, last;
  for (std::uint64_t number = 1; number <= kTrafficViewsMax; ++number) {
    ViewTraffic view;
    view.view = {number, {NodeId{1}, 1}};
    view.upto = {1, 0};
    view.names = {{number == 1 ? "first" : "g", 1}};
    full.views.push_back(view);
  }
  ViewTraffic view = full.views.back();
  view.view.number += 1;
  last.views.push_back(view);
  more = together({full, last});
  EXPECT_EQ(more.views.size(), kTrafficViewsMax);
  EXPECT_EQ(more.views.front().view.number, 2U);
  EXPECT_EQ(more.forgotten.upto.number, 1U);
  EXPECT_EQ(more.forgotten.names, std::vector<std::string>{"first"});
  EXPECT_EQ(names_of(missed(more, full)), std::set<std::string>{"g"}) << "the last one alone";
  EXPECT_EQ(names_of(missed(more, last)), (std::set<std::string>{"first", "g"}));
  EXPECT_TRUE(missed(more, more).empty());
  EXPECT_TRUE(missed(full, more).empty());
}

/// Two daemons forget the same knowledge at different times. Then they meet a daemon that never had
/// this knowledge.
TEST(Traffic, WhoForgotMissedNothingAndTellsWhoKnewNothing) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    Random random(seed);
    TrafficLog one(0), other(0);
    Traffic known;
    std::set<std::string> all;
    const std::uint64_t views = 3 + random.below(6);
    for (std::uint64_t number = 1; number <= views; ++number) {
      ViewTraffic view;
      view.view = {number, {NodeId{1}, 1}};
      const std::string name(1, static_cast<char>('f' + random.below(6)));
      if (random.chance(0.5)) {
        view.upto = {1, 0};
        view.names = {{name, 1}};
      } else {
        view.late = {{{1, 0}, name}};
      }
      all.insert(name);
      Traffic next;
      next.views.push_back(view);
      for (TrafficLog* log : {&one, &other}) {
        log->adopt(together({log->known(), next}));
        if (number > 2 && random.chance(0.4)) {
          log->keep({number - 1, {NodeId{1}, 1}}, view.view);
        }
      }
    }
    const std::vector<Traffic> parts{one.known(), Traffic(), other.known()};
    Traffic met, again;
    EXPECT_TRUE(meet(parts, 0, met).empty()) << seed;
    EXPECT_TRUE(meet(parts, 2, again).empty()) << seed;
    ASSERT_EQ(met, again) << seed;
    EXPECT_EQ(names_of(meet(parts, 1, again)), all) << seed;
    EXPECT_TRUE(meet({met, one.known()}, 1, again).empty()) << seed;
    EXPECT_TRUE(meet({met, other.known()}, 0, again).empty()) << seed;
  }
}

TEST(Traffic, OfWhatWasForgottenNamesAreGivenUpFirst) {
  TrafficLog log(0);
  Traffic known;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    ViewTraffic view;
    view.view = {number, {NodeId{1}, 1}};
    view.upto = {1, 0};
    for (std::size_t i = 0; i < kTrafficNamesMax / 2; ++i) {
      view.names.push_back({"g" + std::to_string(number * 10'000 + i), 1});
    }
    known.views.push_back(view);
  }
  const ViewTraffic first = known.views[0];
  known.views.erase(known.views.begin());
  Traffic old;
  old.views.push_back(first);
  log.adopt(std::move(old));
  log.keep({}, {});
  EXPECT_EQ(log.known().forgotten.names.size(), kTrafficNamesMax / 2);
  const Traffic all = together({log.known(), known});
  EXPECT_TRUE(all.forgotten.every_name && all.forgotten.names.empty());
  EXPECT_FALSE(all.views[0].every_name || all.views[1].every_name);
  EXPECT_TRUE(missed(all, known).every_name);
  EXPECT_TRUE(missed(all, log.known()).names.contains("g20000"));
  EXPECT_FALSE(missed(all, log.known()).every_name);
  Traffic little = all;
  shrink(little, bytes_of(Traffic()) + 41);
  EXPECT_LE(bytes_of(little), bytes_of(Traffic()) + 41);
  EXPECT_TRUE(missed(little, Traffic()).every_name);
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
    some = together({some, one});
  }
  EXPECT_TRUE(some.views[0].every_name);
  EXPECT_FALSE(some.views[1].every_name || some.views[2].every_name);
  Traffic knows_first;
  knows_first.views.push_back(some.views[0]);
  EXPECT_FALSE(missed(some, knows_first).contains("other"));
  EXPECT_TRUE(missed(some, knows_first).contains("g10000"));
  EXPECT_TRUE(missed(some, Traffic()).contains("other"));
}

ViewTraffic view_of(std::uint64_t number, const std::vector<std::string>& names,
                    const std::vector<std::string>& late) {
  ViewTraffic view;
  view.view = {number, {NodeId{1}, 1}};
  view.upto = {1, 0};
  for (const std::string& name : names) view.names.push_back({name, 1});
  for (const std::string& name : late) view.late.push_back({{2, 0}, name});
  return view;
}

TEST(Traffic, NamesOfWhatWasForgottenAreSortedAndThereOnce) {
  TrafficLog log(0);
  Traffic known;
  known.views = {view_of(1, {"m", "n"}, {"a", "m"}), view_of(2, {"b"}, {"a"})};
  log.adopt(std::move(known));
  log.keep({}, {});
  EXPECT_EQ(log.known().forgotten.names, (std::vector<std::string>{"a", "b", "m", "n"}));
}

// `one` remembers only view 2, and has forgotten views 1 and 3. `other` has forgotten all three.
TEST(Traffic, WhatOneRemembersMayLieBetweenWhatItForgot) {
  Traffic known;
  known.views = {view_of(1, {"f"}, {}), view_of(2, {"g"}, {}), view_of(3, {"h"}, {})};
  TrafficLog one(0), other(0);
  one.adopt(Traffic(known));
  other.adopt(Traffic(known));
  one.keep(known.views[1].view, {});
  other.keep({}, {});
  Traffic all;
  EXPECT_TRUE(meet({one.known(), other.known()}, 0, all).empty());
  EXPECT_TRUE(meet({one.known(), other.known()}, 1, all).empty());
  EXPECT_TRUE(all.views.empty());
}

TEST(Traffic, WhoeverGaveNamesUpHasThemGivenUpByAll) {
  Traffic exact, vague;
  exact.views = {view_of(1, {"g"}, {"h"})};
  vague.views = {view_of(1, {}, {})};
  vague.views[0].every_name = true;
  for (const auto& parts : {std::vector<Traffic>{exact, vague}, {vague, exact}}) {
    const Traffic all = together(parts);
    EXPECT_TRUE(all.views[0].every_name);
    EXPECT_TRUE(all.views[0].names.empty() && all.views[0].late.empty());
  }
}

/// The knowledge of messages to `count` names. The last `late` messages are delivered in the
/// transitional view.
Traffic with_names(std::size_t count, std::size_t late) {
  TrafficLog log(0);
  log.begin(kView);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    if (i + late < count) {
      log.note(name, {i + 1, 0}, nullptr);
    } else {
      log.note_late(name, {i + 1, 0});
    }
  }
  log.begin(kNext);
  return log.known();
}

TEST(Traffic, AsManyNamesAsAllowedAreKept) {
  for (const std::size_t late : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    const Traffic full = with_names(kTrafficNamesMax, late);
    EXPECT_FALSE(full.views[0].every_name);
    EXPECT_EQ(full.views[0].names.size() + full.views[0].late.size(), kTrafficNamesMax);
    const Traffic more = with_names(kTrafficNamesMax + 1, late);
    EXPECT_TRUE(more.views[0].every_name);
    EXPECT_TRUE(more.views[0].names.empty() && more.views[0].late.empty());
  }
}

TEST(Traffic, OfItsOwnViewsALogKeepsABoundedNumber) {
  TrafficLog log(0);
  for (std::uint64_t number = 1; number <= kTrafficViewsMax + 3; ++number) {
    log.begin({number, {NodeId{1}, 1}});
    log.note("g", {1, 0}, nullptr);
  }
  EXPECT_LE(log.known().views.size(), kTrafficViewsMax);
  EXPECT_EQ(log.known().forgotten.upto.number, 2U);
}

TEST(Traffic, WhatFitsIsNotShrunk) {
  Traffic traffic;
  traffic.forgotten.upto = {1, {NodeId{1}, 1}};
  traffic.forgotten.names = {"f"};
  traffic.views = {view_of(2, {"g"}, {}), view_of(3, {"h"}, {})};
  const std::size_t all = bytes_of(traffic);
  Traffic same = traffic;
  shrink(same, all);
  EXPECT_EQ(same, traffic);
  shrink(same, all - 1);
  EXPECT_TRUE(same.forgotten.every_name) << "first";
  EXPECT_FALSE(same.views[0].every_name);
  const std::size_t less = bytes_of(same);
  Traffic again = same;
  shrink(again, less);
  EXPECT_EQ(again, same);
  shrink(again, less - 1);
  EXPECT_TRUE(again.views[0].every_name) << "then the oldest view's";
  EXPECT_FALSE(again.views[1].every_name);
}

}  // namespace
}  // namespace peal::group
