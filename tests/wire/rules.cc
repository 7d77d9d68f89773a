// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "examine.h"
#include "order/ring/commit_record.h"
#include "order/toto/commit_record.h"

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

std::uint64_t little_endian(ByteView bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

/// A record of ToTo: a count, then a number for each member of the old view.
const char* broken_toto_record(ByteView record) {
  if (record.size() < 2) return "a record without a count";
  const std::uint64_t count = little_endian(record.first(2));
  if (count > 128) return "old.members";
  if (record.size() != 2 + 8 * count) return "a record of another length";
  for (std::size_t at = 2; at < record.size(); at += 8) {
    if (little_endian(record.subspan(at, 8)) > kTop) return "old.joined";
  }
  const std::vector<std::byte> again = order::toto::encode(order::toto::decode_record(record));
  const bool same = std::equal(again.begin(), again.end(), record.begin(), record.end());
  return same ? nullptr : "a record that encodes to other bytes";
}

const char* broken_record(const OldView& old, Records records) {
  if (records == Records::toto) return broken_toto_record(old.record);
  return broken_rule(order::ring::decode_record(old.record));
}

const char* broken_options(const CommitOptions& options, Records records) {
  if (records == Records::toto) {
    const std::uint32_t bytes = order::toto::decode_options(options).packet_bytes_max;
    // The header of a node with a unit has up to 118 bytes.
    return bytes < 119 || bytes > 65'507 ? "commit.packet_bytes_max of ToTo" : nullptr;
  }
  const order::ring::ViewOptions ring = order::ring::decode_options(options);
  if (ring.packet_bytes_max < 83 || ring.packet_bytes_max > 65'507) {
    return "commit.packet_bytes_max";
  }
  return ring.max_gap == 0 ? "commit.max_gap" : nullptr;
}

const char* broken_rule(const OldView& old, const std::vector<MemberId>& members, Records records) {
  if (!formed_or_birth(old.view)) return "old.view";
  if (old.survivors.empty() || !proper_set(old.survivors)) return "old.survivors";
  if (!within(old.survivors, members)) return "old.survivors outside members";
  return broken_record(old, records);
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

const char* broken_rule(const Commit& commit, Records records) {
  if (!formed(commit.view)) return "commit.view";
  const std::size_t n = commit.members.size();
  if (n < 1 || n > 128 || !proper_set(commit.members)) return "commit.members";
  if (commit.hops > 2 * n) return "commit.hops";
  if (const char* rule = broken_options(commit.options, records)) return rule;
  std::set<ViewId> views;
  std::set<MemberId> survivors;
  for (const OldView& old : commit.old_views) {
    if (const char* rule = broken_rule(old, commit.members, records)) return rule;
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
