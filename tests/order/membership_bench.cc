// SPDX-License-Identifier: Apache-2.0
#include "membership_bench.h"

#include <algorithm>

namespace peal::order::test {
namespace {

using wire::Drop;

wire::CommitFormat number_of_old_view() {
  wire::CommitFormat format;
  format.tail_bytes = [](ByteView) -> std::optional<std::size_t> { return sizeof(std::uint64_t); };
  format.check_tail = [](ByteView, ByteView tail) {
    return load<std::uint64_t>(tail) == 0 ? Drop::bad_value : Drop::none;
  };
  return format;
}

const wire::CommitFormat kNumberFormat = number_of_old_view();

}  // namespace

evs::Settings MembershipBench::usual_settings() {
  evs::Settings settings;
  settings.self = kSelf;
  settings.nodes = {1, {{1}, {2}, {3}, {4}}};
  settings.cluster = kCluster;
  settings.seed = 5;
  settings.silence = settings.consensus = milliseconds(220);
  settings.resend = milliseconds(20);
  settings.join = milliseconds(25);
  settings.probe = settings.damping = milliseconds(500);
  settings.damping_max = seconds(10);
  settings.packet_bytes_max = 1'472;
  settings.first_count = kFirstCount;
  return settings;
}

void MembershipBench::begin(const evs::Settings& settings) {
  membership_ = std::make_unique<Membership>(settings, *this);
  membership_->start(now_, *this);
}

// ---- packets of other members ----

template <class Frame, class Encode>
bool MembershipBench::say(const MemberId& from, Kind kind, const Frame& frame, Encode encode,
                          std::uint64_t cluster) {
  BufferRef packet = pool_.take();
  packet.truncate(static_cast<std::uint32_t>(
      encode(wire::Header{kind, cluster, from}, frame, ByteSpan{packet.data(), packet.size()})));
  EXPECT_GT(packet.size(), 0U);
  wire::Header header;
  EXPECT_EQ(wire::decode_header(packet.view(), header), Drop::none);
  if (!it().admit(now_, header, *this)) return false;
  dropped_ = it().on_frame(now_, header, packet, *this);
  it().check_invariants();
  return true;
}

bool MembershipBench::hear(const MemberId& from, const wire::Join& join, std::uint64_t cluster) {
  return say(from, Kind::join, join, wire::encode_join, cluster);
}
bool MembershipBench::hear(const MemberId& from, const wire::ProbeFrame& probe) {
  return say(from, Kind::probe, probe, wire::encode_probe);
}
bool MembershipBench::hear(const MemberId& from, const wire::Commit& commit) {
  return say(from, Kind::commit, commit,
             [](const wire::Header& header, const wire::Commit& in, ByteSpan out) {
               return wire::encode_commit(header, in, kNumberFormat, out);
             });
}
bool MembershipBench::hear(const MemberId& from, const wire::EpochNotice& notice) {
  return say(from, Kind::epoch_notice, notice, wire::encode_epoch_notice);
}
bool MembershipBench::hear(const MemberId& from, const wire::Trial& trial) {
  return say(from, wire::kind_of(trial.part), trial, wire::encode_trial);
}

wire::Join MembershipBench::join(const MemberSet& processes, const MemberSet& failed) {
  wire::Join join;
  join.number = ++join_number_;
  if (it().place().announced()) join.committed = it().view();
  join.processes = processes;
  join.failed = failed;
  join.heard = set_minus(processes, failed);
  join.list = it().lists().active();
  return join;
}

wire::ProbeFrame MembershipBench::probe(const MemberSet& heard, std::uint64_t list) {
  wire::ProbeFrame probe;
  probe.view = {77, {{9}, 9}};
  probe.heard = heard;
  probe.list = list;
  return probe;
}

// ---- views ----

void MembershipBench::agree(const MemberSet& members) {
  for (const MemberId& member : members) {
    if (member != kSelf) hear(member, join(members));
  }
  if (it().state() != State::gather) return;
  run(milliseconds(3));
  const std::vector<wire::Join> said = take_joins();
  if (said.empty()) return;
  for (const MemberId& member : members) {
    if (member != kSelf) hear(member, join(said.back().processes, said.back().failed));
  }
}

wire::Commit MembershipBench::first_commit(const MemberSet& members, std::uint64_t number) {
  wire::Commit commit;
  commit.view = {number, members.front()};
  commit.members = members;
  commit.hops = static_cast<std::uint32_t>(index_in(members, kSelf));
  commit.list = it().lists().active();
  for (const MemberId& member : members) {
    if (member == kSelf) break;
    commit.old_views.push_back({{0, member}, {member}, std::vector<std::byte>(8, std::byte{1})});
  }
  return commit;
}

wire::Commit MembershipBench::second_commit() {
  const auto last = std::find_if(sent_.rbegin(), sent_.rend(),
                                 [](const Sent& each) { return each.kind == Kind::commit; });
  wire::Commit commit;
  EXPECT_NE(last, sent_.rend());
  if (last == sent_.rend()) return commit;
  EXPECT_EQ(wire::decode_commit(last->bytes, kNumberFormat, commit), Drop::none);
  commit.hops = static_cast<std::uint32_t>(commit.members.size() + index_in(commit.members, kSelf));
  return commit;
}

const MemberId& MembershipBench::predecessor_in(const wire::Commit& commit) const {
  const std::size_t n = commit.members.size();
  return commit.members[(index_in(commit.members, kSelf) + n - 1) % n];
}

void MembershipBench::into_view(const MemberSet& members) {
  agreement_.reset();
  if (members.size() == 1) {
    run(milliseconds(300));
  } else {
    agree(members);
    if (members.front() != kSelf) {
      const wire::Commit commit = first_commit(members, it().view().number + 10);
      hear(predecessor_in(commit), commit);
    }
    ASSERT_EQ(it().state(), State::commit);
    const wire::Commit again = second_commit();
    ASSERT_EQ(again.members, members);
    hear(predecessor_in(again), again);
  }
  ASSERT_EQ(it().state(), State::recovery);
  ASSERT_TRUE(agreement_.has_value());
  it().installed(now_, *agreement_, *this);
  it().check_invariants();
  ASSERT_EQ(it().members(), members);
  sent_.clear();
}

void MembershipBench::lose(const MemberSet& lost, const MemberSet& rest) {
  for (const MemberId& member : lost) it().accuse(now_, member, &gather::stall, *this);
  into_view(rest);
}

// ---- time and output ----

void MembershipBench::run(Duration span) {
  for (const Instant end = now_ + span; now_ < end; now_ = now_ + milliseconds(1)) {
    for (int i = 0; i < static_cast<int>(evs::Timer::count); ++i) {
      const auto timer = static_cast<evs::Timer>(i);
      if (!it().left() && it().timers().take_due(timer, now_)) it().on_timer(now_, timer, *this);
    }
    it().check_invariants();
  }
}

bool MembershipBench::run_until_sent(Kind kind, Duration span) {
  const std::size_t before = count(kind);
  for (const Instant end = now_ + span; now_ < end;) {
    run(milliseconds(1));
    if (count(kind) > before) return true;
  }
  return false;
}

namespace {

template <class Frame, class Decode>
std::vector<Frame> decoded(const auto& sent, const auto& is, Decode decode) {
  std::vector<Frame> frames;
  for (const auto& each : sent) {
    if (!is(each)) continue;
    EXPECT_EQ(decode(each.bytes, frames.emplace_back()), Drop::none);
  }
  return frames;
}

}  // namespace

std::vector<wire::Join> MembershipBench::take_joins() {
  const auto is = [](const Sent& each) { return each.kind == Kind::join; };
  return decoded<wire::Join>(std::exchange(sent_, {}), is, wire::decode_join);
}
std::vector<wire::ProbeFrame> MembershipBench::take_probes() {
  const auto is = [](const Sent& each) { return each.kind == Kind::probe; };
  return decoded<wire::ProbeFrame>(std::exchange(sent_, {}), is, wire::decode_probe);
}
std::vector<wire::Trial> MembershipBench::take_trials() {
  const auto is = [](const Sent& each) {
    return each.kind == Kind::trial || each.kind == Kind::data;
  };
  return decoded<wire::Trial>(std::exchange(sent_, {}), is, wire::decode_trial);
}

std::size_t MembershipBench::count(Kind kind) const {
  return static_cast<std::size_t>(std::count_if(
      sent_.begin(), sent_.end(), [kind](const Sent& each) { return each.kind == kind; }));
}

std::size_t MembershipBench::events(const EventKind* kind) const {
  return static_cast<std::size_t>(std::count_if(
      events_.begin(), events_.end(), [kind](const Event& each) { return each.kind == kind; }));
}

const Event& MembershipBench::last_event(const EventKind* kind) const {
  const auto last = std::find_if(events_.rbegin(), events_.rend(),
                                 [kind](const Event& each) { return each.kind == kind; });
  EXPECT_NE(last, events_.rend());
  return last == events_.rend() ? events_.front() : *last;
}

// ---- evs::Protocol, Effects ----

const wire::CommitFormat& MembershipBench::commit_format() const { return kNumberFormat; }

void MembershipBench::freeze(std::vector<std::byte>& record) {
  std::uint64_t folded = kSelf.node.value;
  if (!record.empty()) folded |= load<std::uint64_t>(record);
  record.resize(sizeof folded);
  store(record, folded);
}

void MembershipBench::recover(Instant /*now*/, const evs::Agreement& agreement, Effects& /*out*/) {
  agreement_ = agreement;
}

void MembershipBench::send(NodeId to, Lane lane, const BufferRef& packet) {
  const ByteView bytes = packet.view();
  sent_.push_back({to, lane, static_cast<Kind>(bytes[3]), {bytes.begin(), bytes.end()}});
}

}  // namespace peal::order::test
