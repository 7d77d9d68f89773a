// SPDX-License-Identifier: Apache-2.0
#include "samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace peal::wire::test {

std::uint64_t skewed(Random& random, std::uint64_t top) {
  switch (random.below(4)) {
    case 0: return std::min(top, random.below(4));
    case 1: return top - std::min(top, random.below(4));
    case 2: return std::min(top, random.below(100'000));
    default: return top == ~0ULL ? random.next() : random.below(top + 1);
  }
}

MemberId random_member(Random& random) {
  const auto node = static_cast<std::uint32_t>(1 + skewed(random, kNodeMax - 1));
  return {{node}, skewed(random, ~0ULL)};
}

ViewId random_view(Random& random) {
  return {1 + skewed(random, kCounterMax - 1), random_member(random)};
}

namespace {

std::uint32_t any32(Random& random) {
  return static_cast<std::uint32_t>(skewed(random, 0xffff'ffff));
}

ViewId random_view_or_birth(Random& random) {
  ViewId view = random_view(random);
  if (random.chance(0.2)) view.number = 0;
  return view;
}

std::vector<MemberId> random_set(Random& random, std::size_t minimum, std::size_t maximum) {
  std::set<MemberId> members;
  const std::size_t size = minimum + skewed(random, maximum - minimum);
  while (members.size() < size) {
    MemberId member = random_member(random);
    if (random.chance(0.1) && !members.empty()) member.node = members.begin()->node;
    members.insert(member);
  }
  return {members.begin(), members.end()};
}

/// Chooses each element with the given probability.
std::vector<MemberId> subset(Random& random, const std::vector<MemberId>& members,
                             double probability) {
  std::vector<MemberId> chosen;
  for (const MemberId& member : members) {
    if (random.chance(probability)) chosen.push_back(member);
  }
  return chosen;
}

std::uint16_t random_index(Random& random) {
  return random.chance(0.3) ? kNoIndex : static_cast<std::uint16_t>(random.below(kMembersMax));
}

RequestSection random_section(Random& random) {
  RequestSection section;
  section.view = random_view(random);
  const std::uint64_t count = skewed(random, kRangesMax);
  Seq first = 1 + random.below(1'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    section.ranges.push_back({first, random.next() | 1});
    first += 64 + skewed(random, 1ULL << 50);
  }
  return section;
}

OldView random_old_view(Random& random, std::vector<MemberId> survivors) {
  OldView view;
  view.view = random_view_or_birth(random);
  view.survivors = std::move(survivors);
  OldViewRecord old;
  const std::uint64_t span = skewed(random, random.chance(0.1) ? kSpanMax : 200);
  old.base = skewed(random, kCounterMax - span);
  old.high = old.base + span;
  old.safe = skewed(random, old.base);
  old.have.resize((span + 63) / 64);
  for (std::uint64_t& word : old.have) word = random.next();
  if (span % 64 != 0) old.have.back() &= (1ULL << (span % 64)) - 1;
  old.obligation = random_set(random, 0, random.chance(0.1) ? kMembersMax : 6);
  view.record = encode(old);
  return view;
}

}  // namespace

std::vector<MemberId> first_members(std::uint32_t count) {
  std::vector<MemberId> members;
  for (std::uint32_t node = 1; node <= count; ++node) members.push_back({{node}, node * 10});
  return members;
}

Token plain_token() {
  Token token;
  token.view = kSomeView;
  token.hop = 3;
  token.seq = 200;
  token.aru = 100;
  RequestSection section;
  section.view = kSomeView;
  section.ranges.push_back({101, 1});
  section.ranges.push_back({165, 3});
  token.sections.push_back(section);
  return token;
}

Data plain_data() { return {kSomeView, 7, 3, kSender, false, false, Service::agreed}; }

Join plain_join() {
  return {4, kSomeView, 9, false, {{{1}, 10}, {{2}, 20}, kSender}, {{{2}, 20}}, {{{3}, 30}}};
}

Commit plain_commit() {
  const std::vector<MemberId> members = first_members(4);
  const OldView one{{8, members[0]},
                    {members[0], members[1]},
                    encode(OldViewRecord{10, 80, 5, {~0ULL, 0x3f}, members})};
  const OldView two{
      {0, members[2]}, {members[2]}, encode(OldViewRecord{0, 0, 0, {}, {members[2]}})};
  return {kSomeView, members, 8, encode(ViewOptions{1'472, 1, 4'096}), {one, two}};
}

Token random_token(Random& random) {
  Token token;
  token.view = random_view(random);
  token.hop = skewed(random, kCounterMax);
  token.seq = skewed(random, kCounterMax);
  token.aru = skewed(random, token.seq);
  token.aru_index = random_index(random);
  token.fcc = any32(random);
  token.recovery_run = static_cast<std::uint16_t>(skewed(random, 0xffff));
  token.recovery_block = random_index(random);
  token.window = any32(random);
  token.losses = any32(random);
  token.limited = any32(random);
  token.backlog = any32(random);
  token.credit = any32(random);
  token.credit_index = random_index(random);
  if (random.chance(0.5)) {
    token.list = 1 + skewed(random, ~0ULL - 1);
    token.list_run = static_cast<std::uint16_t>(skewed(random, kListRunMax));
    token.list_block = random_index(random);
  }
  const std::uint64_t sections = skewed(random, kSectionsMax);
  for (std::uint64_t i = 0; i < sections; ++i) {
    const RequestSection section = random_section(random);
    const bool known =
        std::any_of(token.sections.begin(), token.sections.end(),
                    [&](const RequestSection& other) { return other.view == section.view; });
    if (!known) token.sections.push_back(section);
  }
  return token;
}

Data random_data(Random& random) {
  Data data;
  data.view = random_view(random);
  data.seq = 1 + skewed(random, kCounterMax - 1);
  data.hop = skewed(random, kCounterMax);
  data.origin = random_member(random);
  data.post = random.chance(0.5);
  data.retransmission = random.chance(0.5);
  data.service = random.chance(0.5) ? Service::agreed : Service::safe;
  return data;
}

Join random_join(Random& random) {
  Join join;
  join.number = skewed(random, kCounterMax);
  if (random.chance(0.8)) join.committed = random_view_or_birth(random);
  join.view_number_max = skewed(random, kCounterMax);
  join.leaving = random.chance(0.2);
  join.processes = random_set(random, 0, kProcessesMax);
  join.failed = subset(random, join.processes, random.unit());
  std::erase(join.failed, kSender);
  join.heard = random_set(random, 0, kProcessesMax);
  join.list = skewed(random, ~0ULL);
  return join;
}

Commit random_commit(Random& random) {
  Commit commit;
  commit.view = random_view(random);
  commit.members = random_set(random, 1, kMembersMax);
  commit.hops = static_cast<std::uint32_t>(skewed(random, 2 * commit.members.size()));
  ViewOptions options;
  options.packet_bytes_max = static_cast<std::uint32_t>(
      kDataHeaderBytes + 1 + skewed(random, kPacketBytesMax - kDataHeaderBytes - 1));
  options.request_lag = any32(random);
  options.max_gap = static_cast<std::uint32_t>(1 + skewed(random, 0xffff'fffe));
  commit.options = encode(options);
  commit.list = skewed(random, ~0ULL);
  // Assigns the members to old views. Some members come from no view.
  const std::uint64_t piles = 1 + random.below(12);
  std::vector<std::vector<MemberId>> survivors(piles);
  for (const MemberId& member : commit.members) {
    const std::uint64_t pile = random.below(piles + 1);
    if (pile < piles) survivors[pile].push_back(member);
  }
  std::set<ViewId> views;
  for (std::vector<MemberId>& pile : survivors) {
    if (pile.empty()) continue;
    OldView old = random_old_view(random, std::move(pile));
    if (views.insert(old.view).second) commit.old_views.push_back(std::move(old));
  }
  return commit;
}

ProbeFrame random_probe(Random& random) {
  ProbeFrame probe;
  if (random.chance(0.8)) probe.view = random_view_or_birth(random);
  probe.heard = random_set(random, 0, kProcessesMax);
  return probe;
}

HoldCancel random_hold_cancel(Random& random) { return {random_view(random)}; }

EpochNotice random_epoch_notice(Random& random) { return {random_member(random)}; }

Trial random_trial(Random& random) {
  Trial trial;
  trial.step = static_cast<Trial::Step>(1 + random.below(3));
  trial.part = static_cast<std::uint8_t>(random.below(kTrialParts));
  trial.index = static_cast<std::uint8_t>(random.below(kTrialAsksMax));
  trial.number = 1 + skewed(random, kCounterMax - 1);
  trial.to = random_member(random);
  trial.padding = static_cast<std::uint16_t>(random.below(2'000));
  return trial;
}

SettingsFrame random_settings(Random& random) {
  static const std::string kTexts = [] {
    std::string texts;
    for (Random any(3); texts.size() < 4'096;) texts += static_cast<char>(any.below(256));
    return texts;
  }();
  const auto some = [&](std::size_t least, std::size_t most) {
    const std::size_t size = least + skewed(random, most - least);
    return std::string_view(kTexts).substr(random.below(kTexts.size() - size), size);
  };
  std::map<std::string_view, std::string_view> chosen;
  std::size_t left = kSettingsBytesMax - kHeaderBytes - 2;
  const std::size_t count = skewed(random, kSettingsMax);
  for (int tries = 0; tries < 200 && chosen.size() < count; ++tries) {
    const std::string_view key = some(1, kSettingKeyMax);
    const std::string_view value = some(0, kSettingValueMax);
    const std::size_t bytes = 2 + key.size() + value.size();
    if (bytes > left || !chosen.emplace(key, value).second) continue;
    left -= bytes;
  }
  SettingsFrame frame;
  frame.asks = random.chance(0.5);
  for (const auto& [key, value] : chosen) frame.settings.push_back({key, value});
  return frame;
}

}  // namespace peal::wire::test
