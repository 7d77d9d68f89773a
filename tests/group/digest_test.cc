// SPDX-License-Identifier: Apache-2.0
// Daemons compare tables and forgotten messages by their digests, so different contents must have
// different digests.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "group/table.h"
#include "group/traffic.h"
#include "samples.h"

namespace peal::group::test {
namespace {

const ViewId kFirst{5, {NodeId{1}, 100}};
const ViewId kSecond{6, {NodeId{1}, 100}};
const ViewId kThird{7, {NodeId{1}, 100}};

/// Applies each change to its own copy of `plain`. All results must have different digests.
template <class T>
void expect_different(const T& plain, std::uint64_t (*digest)(const T&),
                      const std::vector<std::function<void(T&)>>& changes) {
  std::map<std::uint64_t, std::size_t> seen{{digest(plain), 0}};
  EXPECT_EQ(digest(T(plain)), digest(plain));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    T changed = plain;
    changes[i](changed);
    const auto [at, fresh] = seen.emplace(digest(changed), i + 1);
    EXPECT_TRUE(fresh) << "changes " << i + 1 << " and " << at->second
                       << " (counted from 1; 0 is the value without a change)";
  }
}

TEST(TableHash, DependsOnEachField) {
  const auto hash = [](const Tables& tables) {
    Table table(1U << 20);
    table.add(Tables(tables));
    return table.hash();
  };
  expect_different<Tables>(
      sample_tables(), hash,
      {[](Tables& t) { t.groups[0].name = "asked"; },
       [](Tables& t) { t.groups[0].id.view.number += 1; },
       [](Tables& t) { t.groups[0].id.view.representative.node = {9}; },
       [](Tables& t) { t.groups[0].id.view.representative.epoch += 1; },
       [](Tables& t) { t.groups[0].id.index += 1; }, [](Tables& t) { t.groups[0].changed = true; },
       [](Tables& t) { t.groups[0].daemons[0].daemon.node = {9}; },
       [](Tables& t) { t.groups[0].daemons[0].daemon.epoch += 1; },
       [](Tables& t) { t.groups[0].daemons[0].clients[1].connection += 1; },
       [](Tables& t) { t.groups[0].daemons[0].clients[1].name = "z"; },
       [](Tables& t) { t.groups[0].daemons[0].clients.pop_back(); },
       [](Tables& t) { t.groups[1].daemons.pop_back(); },
       [](Tables& t) { std::swap(t.groups[0].daemons, t.groups[1].daemons); },
       [](Tables& t) { t.groups.pop_back(); }, [](Tables& t) { t.groups.clear(); }});
}

ViewTraffic ended_view(const ViewId& view) {
  return {view, {3, 1}, false, 0, {{"g", 2}}, {{{4, 0}, "h"}, {{5, 2}, "h"}}};
}

/// A log that knows these views, and has forgotten none.
TrafficLog log_of(const std::vector<ViewTraffic>& views) {
  TrafficLog log(0);
  Traffic known;
  known.views = views;
  log.adopt(std::move(known));
  return log;
}

TEST(TrafficDigest, OfAForgottenViewDependsOnItsIdAndPlaces) {
  const auto digest = [](const ViewTraffic& view) {
    TrafficLog log = log_of({view});
    log.keep({}, {});
    return log.known().forgotten.digest;
  };
  expect_different<ViewTraffic>(
      ended_view(kFirst), digest,
      {[](ViewTraffic& v) { v.view.number += 1; },
       [](ViewTraffic& v) { v.view.representative.node = {9}; },
       [](ViewTraffic& v) { v.view.representative.epoch += 1; },
       [](ViewTraffic& v) { v.upto.seq = 2; }, [](ViewTraffic& v) { v.upto.index += 1; },
       [](ViewTraffic& v) { v.late[1].place.seq += 1; },
       [](ViewTraffic& v) { v.late[1].place.index += 1; },
       [](ViewTraffic& v) { v.late.pop_back(); }, [](ViewTraffic& v) { v.late.clear(); }});
}

TEST(TrafficDigest, OfForgottenViewsDoesNotDependOnTheOrderOfForgetting) {
  const std::vector<ViewTraffic> views{ended_view(kFirst), ended_view(kSecond)};
  TrafficLog together = log_of(views), first_before = log_of(views), second_before = log_of(views);
  first_before.keep(kSecond, {});
  second_before.keep(kFirst, {});
  EXPECT_NE(first_before.known(), second_before.known());
  for (TrafficLog* log : {&together, &first_before, &second_before}) log->keep({}, {});
  EXPECT_FALSE(together.known().forgotten.empty());
  EXPECT_EQ(first_before.known(), together.known());
  EXPECT_EQ(second_before.known(), together.known());
}

TEST(TrafficDigest, OfAViewWithoutNamesCountsThePlaceOfEachLateMessageOnce) {
  for (const std::size_t names : {1U, 2U, 3U}) {
    // Each late message is sent to `names` names.
    TrafficLog vague(0);
    vague.begin(kFirst);
    for (std::size_t i = 0; i <= kTrafficNamesMax; ++i) {
      vague.note("name " + std::to_string(i), {1, 0}, nullptr);
    }
    Traffic exact;
    exact.views = {{kFirst, {1, 0}, false, 0, {{"g", 1}}, {}}};
    for (const Seq seq : {Seq{2}, Seq{3}, Seq{5}}) {
      for (std::size_t i = 0; i < names; ++i) {
        vague.note_late("g" + std::to_string(i), {seq, 0});
        exact.views[0].late.push_back({{seq, 0}, "g" + std::to_string(i)});
      }
    }
    vague.begin(kSecond);
    ASSERT_TRUE(vague.known().views[0].every_name);
    for (const std::size_t own : {0U, 1U}) {
      Traffic all;
      EXPECT_TRUE(meet({exact, vague.known()}, own, all).empty()) << names << " names";
    }
  }
}

// ---- what logs keep, and what a meeting keeps ----

TEST(TrafficLogs, KeepNamesAgainInTheViewAfterOneWithTooMany) {
  TrafficLog log(0);
  log.begin(kFirst);
  for (std::size_t i = 0; i <= kTrafficNamesMax; ++i) {
    log.note("name " + std::to_string(i), {i + 1, 0}, nullptr);
  }
  log.begin(kSecond);
  log.note("g", {1, 0}, nullptr);
  log.begin(kThird);
  ASSERT_EQ(log.known().views.size(), 2U);
  EXPECT_TRUE(log.known().views[0].every_name);
  EXPECT_FALSE(log.known().views[1].every_name);
  EXPECT_EQ(log.known().views[1].names, (std::vector<ViewTraffic::Name>{{"g", 1}}));
}

TEST(TrafficLogs, AMarkLeadsToTheCountOfItsNameInThisViewOnly) {
  TrafficLog log(0);
  TrafficMark mark;
  log.begin(kFirst);
  log.note("g", {1, 0}, &mark);
  ASSERT_NE(mark.messages, nullptr);
  EXPECT_EQ(*mark.messages, 1U);
  log.note("g", {2, 0}, &mark);
  EXPECT_EQ(*mark.messages, 2U);
  log.begin(kSecond);
  log.note("g", {1, 0}, &mark);
  log.begin(kThird);
  ASSERT_EQ(log.known().views.size(), 2U);
  EXPECT_EQ(log.known().views[0].names, (std::vector<ViewTraffic::Name>{{"g", 2}}));
  EXPECT_EQ(log.known().views[1].names, (std::vector<ViewTraffic::Name>{{"g", 1}}));
}

TEST(TrafficLogs, ThatMeetReplaceWhatTheResultHeldBefore) {
  Traffic one, other, all, used;
  one.views = {ended_view(kFirst)};
  other.views = {ended_view(kSecond)};
  used.forgotten = {kFirst, 9, false, {"other"}};
  used.views = {ended_view(kThird)};
  meet({one, other}, 0, all);
  meet({one, other}, 0, used);
  EXPECT_EQ(used, all);
}

}  // namespace
}  // namespace peal::group::test
