// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "examine.h"
#include "order/ring/commit_record.h"

namespace peal::wire::test {
namespace {

constexpr std::uint64_t kTop = 0x7fff'ffff'ffff'ffff;

bool real(const MemberId& member) { return member.node.value >= 1 && member.node.value <= 65'535; }
bool formed(const ViewId& view) {
  return view.number >= 1 && view.number <= kTop && real(view.representative);
}
bool formed_or_birth(const ViewId& view) {
  return view.number <= kTop && real(view.representative);
}
bool nothing(const ViewId& view) {
  return view.number == 0 && view.representative.node.value == 0 && view.representative.epoch == 0;
}
bool index_or_none(std::uint16_t index) { return index < 128 || index == 0xffff; }

/// True if all members are real, and ascend without duplicates.
bool proper_set(const std::vector<MemberId>& members) {
  const std::set<MemberId> distinct(members.begin(), members.end());
  return distinct.size() == members.size() && std::is_sorted(members.begin(), members.end()) &&
         std::all_of(members.begin(), members.end(), real);
}

bool has(const std::vector<MemberId>& members, const MemberId& member) {
  return std::find(members.begin(), members.end(), member) != members.end();
}

bool within(const std::vector<MemberId>& part, const std::vector<MemberId>& whole) {
  return std::all_of(part.begin(), part.end(),
                     [&](const MemberId& member) { return has(whole, member); });
}

const char* broken_rule(const RequestSection& section) {
  if (!formed(section.view)) return "section.view";
  for (std::size_t i = 0; i < section.ranges.size(); ++i) {
    const RequestRange& range = section.ranges[i];
    if (range.first < 1 || range.first > kTop) return "range.first";
    if (range.bitmap % 2 != 1) return "range.bitmap";
    for (std::uint64_t bit = 0; bit < 64; ++bit) {
      if ((range.bitmap >> bit) % 2 == 1 && range.first + bit > kTop) return "range wraps";
    }
    if (i == 0) continue;
    const Seq before = section.ranges[i - 1].first;
    if (range.first <= before || range.first - before < 64) return "ranges overlap";
  }
  return nullptr;
}

const char* broken_rule(const order::ring::OldViewRecord& old) {
  if (old.high > kTop || old.base > old.high || old.safe > old.base) return "old positions";
  if (old.high - old.base > 16'384) return "old span";
  if (old.obligation.size() > 128 || !proper_set(old.obligation)) return "old.obligation";
  const std::uint64_t span = old.high - old.base;
  if (old.have.size() != span / 64 + (span % 64 == 0 ? 0 : 1)) return "old.have size";
  for (std::uint64_t bit = span; bit < old.have.size() * 64; ++bit) {
    if ((old.have[bit / 64] >> (bit % 64)) % 2 == 1) return "old.have past high";
  }
  return nullptr;
}

const char* broken_rule(const OldView& old, const std::vector<MemberId>& members) {
  if (!formed_or_birth(old.view)) return "old.view";
  if (old.survivors.empty() || !proper_set(old.survivors)) return "old.survivors";
  if (!within(old.survivors, members)) return "old.survivors outside members";
  return broken_rule(order::ring::decode_record(old.record));
}

}  // namespace

const char* broken_rule(const Token& token) {
  if (!formed(token.view)) return "token.view";
  if (token.hop > kTop || token.seq > kTop) return "token counters";
  if (token.aru > token.seq) return "token.aru";
  if (!index_or_none(token.aru_index)) return "token.aru_index";
  if (!index_or_none(token.recovery_block)) return "token.recovery_block";
  if (!index_or_none(token.credit_index)) return "token.credit_index";
  if (token.list_run > 256) return "token.list_run";
  if (!index_or_none(token.list_block)) return "token.list_block";
  if (token.list == 0 && (token.list_run != 0 || token.list_block != 65'535)) return "token.list";
  for (std::size_t i = 0; i < token.sections.size(); ++i) {
    if (const char* rule = broken_rule(token.sections[i])) return rule;
    for (std::size_t j = 0; j < i; ++j) {
      if (token.sections[j].view == token.sections[i].view) return "two sections of one view";
    }
  }
  return nullptr;
}

const char* broken_rule(const Data& data) {
  if (!formed(data.view)) return "data.view";
  if (data.seq < 1 || data.seq > kTop || data.hop > kTop) return "data counters";
  if (!real(data.origin)) return "data.origin";
  if (data.service != Service::agreed && data.service != Service::safe) return "data.service";
  return nullptr;
}

const char* broken_rule(const Join& join, const MemberId& sender) {
  if (join.number > kTop || join.view_number_max > kTop) return "join counters";
  if (!nothing(join.committed) && !formed_or_birth(join.committed)) return "join.committed";
  for (const auto* set : {&join.processes, &join.failed, &join.heard}) {
    if (set->size() > 256 || !proper_set(*set)) return "join set";
  }
  if (!within(join.failed, join.processes)) return "join.failed outside processes";
  if (has(join.failed, sender)) return "join.failed has the sender";
  return nullptr;
}

const char* broken_rule(const Commit& commit) {
  if (!formed(commit.view)) return "commit.view";
  const std::size_t n = commit.members.size();
  if (n < 1 || n > 128 || !proper_set(commit.members)) return "commit.members";
  if (commit.hops > 2 * n) return "commit.hops";
  const order::ring::ViewOptions options = order::ring::decode_options(commit.options);
  if (options.packet_bytes_max < 83 || options.packet_bytes_max > 65'507) {
    return "commit.packet_bytes_max";
  }
  if (options.max_gap == 0) return "commit.max_gap";
  std::set<ViewId> views;
  std::set<MemberId> survivors;
  for (const OldView& old : commit.old_views) {
    if (const char* rule = broken_rule(old, commit.members)) return rule;
    if (!views.insert(old.view).second) return "two records of one old view";
    for (const MemberId& member : old.survivors) {
      if (!survivors.insert(member).second) return "a survivor of two old views";
    }
  }
  return nullptr;
}

const char* broken_rule(const ProbeFrame& probe) {
  if (!nothing(probe.view) && !formed_or_birth(probe.view)) return "probe.view";
  if (probe.heard.size() > 256 || !proper_set(probe.heard)) return "probe.heard";
  return nullptr;
}

const char* broken_rule(const HoldCancel& hold_cancel) {
  return formed(hold_cancel.view) ? nullptr : "hold_cancel.view";
}

const char* broken_rule(const EpochNotice& notice) {
  return real(notice.newest) ? nullptr : "epoch_notice.newest";
}

const char* broken_rule(const Trial& trial) {
  const auto step = static_cast<unsigned>(trial.step);
  if (step < 1 || step > 3) return "trial.step";
  if (trial.part >= kTrialParts) return "trial.part";
  if (trial.index >= kTrialAsksMax) return "trial.index";
  if (trial.number == 0 || trial.number > kCounterMax) return "trial.number";
  return real(trial.to) ? nullptr : "trial.to";
}

const char* broken_rule(const SettingsFrame& frame, ByteView packet) {
  if (packet.size() > 1'200) return "settings too long";
  if (frame.settings.size() > 64) return "settings count";
  std::set<std::string> keys;
  std::size_t bytes = 32 + 2;
  for (const Setting& setting : frame.settings) {
    if (setting.key.empty() || setting.key.size() > 64) return "setting.key";
    if (setting.value.size() > 255) return "setting.value";
    if (!keys.empty() && *keys.rbegin() >= setting.key) return "settings not ascending";
    keys.emplace(setting.key);
    bytes += 2 + setting.key.size() + setting.value.size();
  }
  return bytes == packet.size() ? nullptr : "settings are not all of the packet";
}

}  // namespace peal::wire::test
