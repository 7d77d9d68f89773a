// SPDX-License-Identifier: Apache-2.0
// The membership with a protocol other than the ring. This protocol orders nothing, and has no
// token and no failure detector. Its members need the bits that the survivors of a view have
// together.
#include "order/evs/membership.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace peal::order::test {
namespace {

using evs::Membership;
using evs::State;
using wire::Drop;
using wire::FrameKind;

constexpr std::uint64_t kCluster = 7;

/// The record of an old view has one number other than 0, after the survivors.
wire::CommitFormat number_format() {
  wire::CommitFormat format;
  format.tail_bytes = [](ByteView) -> std::optional<std::size_t> { return sizeof(std::uint64_t); };
  format.check_tail = [](ByteView, ByteView tail) {
    return load<std::uint64_t>(tail) == 0 ? Drop::bad_value : Drop::none;
  };
  return format;
}

struct Mail {
  NodeId from{}, to{};
  std::vector<std::byte> bytes;
};

evs::Settings settings_of(NodeId node) {
  evs::Settings settings;
  settings.self = {node, 100 + node.value};
  settings.nodes = {1, {{1}, {2}, {3}}};
  settings.cluster = kCluster;
  settings.seed = node.value;
  settings.silence = settings.consensus = milliseconds(220);
  settings.resend = milliseconds(20);
  settings.join = milliseconds(25);
  settings.probe = settings.damping = milliseconds(500);
  settings.damping_max = seconds(10);
  settings.packet_bytes_max = 1'472;
  return settings;
}

class Member final : public evs::Protocol, public Effects {
 public:
  Member(NodeId node, std::deque<Mail>& network)
      : bits(std::uint64_t{1} << node.value),
        membership(settings_of(node), *this),
        network_(network) {}

  void on_packet(Instant now, const BufferRef& packet) {
    wire::Header header;
    ASSERT_EQ(wire::decode_header(packet.view(), header), Drop::none);
    if (membership.left() || !membership.admit(now, header, *this)) return;
    if (header.kind != FrameKind::hold_cancel) {
      dropped = membership.on_frame(now, header, packet, *this);
      return;
    }
    // With a HOLD CANCEL, the representative announces that all members have recovered.
    wire::HoldCancel word;
    ASSERT_EQ(wire::decode_hold_cancel(packet.view(), word), Drop::none);
    if (membership.state() == State::recovery && word.view == agreement_.view) install(now);
  }
  void on_timers(Instant now) {
    for (int i = 0; i < static_cast<int>(evs::Timer::count); ++i) {
      const auto timer = static_cast<evs::Timer>(i);
      if (!membership.left() && membership.timers().take_due(timer, now)) {
        membership.on_timer(now, timer, *this);
      }
    }
  }

  // Overrides of evs::Protocol.
  const wire::CommitFormat& commit_format() const override { return format_; }
  void flush(Effects&) override { ++flushed; }
  void abandon() override {}
  void fold_options(wire::CommitOptions&) const override {}
  void freeze(std::vector<std::byte>& record) override {
    std::uint64_t folded = bits;
    if (!record.empty()) folded |= load<std::uint64_t>(record);
    record.resize(sizeof folded);
    store(record, folded);
  }
  bool accepts(ByteView record) const override {
    return (load<std::uint64_t>(record) & bits) == bits;
  }
  void recover(Instant, const evs::Agreement& agreement, Effects&) override {
    agreement_ = agreement;
    recovered = load<std::uint64_t>(agreement.old_view.record);
  }
  void lead_recovery(Instant now, Effects& out) override {
    const wire::HoldCancel word{agreement_.view};
    out.multicast(Lane::control, membership.frames().build(FrameKind::hold_cancel, word,
                                                           wire::encode_hold_cancel));
    install(now);
  }
  void install_alone(Instant now, Effects&) override { install(now); }

  // Overrides of Effects.
  void send(NodeId to, Lane, const BufferRef& packet) override {
    const ByteView bytes = packet.view();
    network_.push_back({membership.self().node, to, {bytes.begin(), bytes.end()}});
  }
  void multicast(Lane lane, const BufferRef& packet) override {
    for (std::uint32_t node = 1; node <= 3; ++node) {
      if (NodeId{node} != membership.self().node) send({node}, lane, packet);
    }
  }
  void originate(const ViewId&, Seq) override {}
  void deliver(const Delivery&) override {}
  void install(const View&) override {}
  void report(const Event&) override {}
  void fatal(std::string_view reason) override { FAIL() << reason; }

  std::uint64_t bits;           ///< the bits of this member
  std::uint64_t recovered = 0;  ///< the bits that the survivors of its last view have together
  unsigned flushed = 0;
  Drop dropped = Drop::none;
  Membership membership;

 private:
  void install(Instant now) { membership.installed(now, agreement_, *this); }

  const wire::CommitFormat format_ = number_format();
  evs::Agreement agreement_;
  std::deque<Mail>& network_;
};

class AnyProtocol : public testing::Test {
 protected:
  AnyProtocol() {
    for (std::uint32_t node = 1; node <= 3; ++node) {
      members_.push_back(std::make_unique<Member>(NodeId{node}, network_));
    }
    for (const auto& member : members_) member->membership.start(now_, *member);
  }
  Member& member(std::uint32_t node) { return *members_[node - 1]; }

  /// Runs in steps of a millisecond. A packet that is sent in one step arrives in the next step.
  bool run_until(const std::function<bool()>& done, Duration span) {
    for (const Instant end = now_ + span; now_ < end && !done(); now_ = now_ + milliseconds(1)) {
      for (std::size_t waiting = network_.size(); waiting > 0; --waiting) {
        const Mail mail = std::move(network_.front());
        network_.pop_front();
        if (!filter_(mail)) continue;
        BufferRef packet = pool_.take();
        std::copy(mail.bytes.begin(), mail.bytes.end(), packet.data());
        packet.truncate(static_cast<std::uint32_t>(mail.bytes.size()));
        member(mail.to.value).on_packet(now_, packet);
      }
      for (const auto& each : members_) each->on_timers(now_);
      for (const auto& each : members_) each->membership.check_invariants();
    }
    return done();
  }
  bool in_view_of(std::size_t count) {
    std::size_t together = 0;
    for (const auto& each : members_) {
      const Membership& one = each->membership;
      const bool there = !one.left() && one.state() == State::operational &&
                         one.members().size() == count && one.view() != last_;
      if (there) ++together;
    }
    return together == count;
  }

  BufferPool pool_{static_cast<std::uint32_t>(wire::kPacketBytesMax), 16};
  std::deque<Mail> network_;
  std::function<bool(Mail)> filter_ = [](const Mail&) { return true; };
  std::vector<std::unique_ptr<Member>> members_;
  ViewId last_{};
  Instant now_{1'000'000'000};
};

TEST_F(AnyProtocol, EachSeesWhatTheSurvivorsHaveTogether) {
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  for (std::uint32_t node = 1; node <= 3; ++node) {
    EXPECT_EQ(member(node).recovered, member(node).bits) << "nobody else was in its birth view";
  }
  last_ = member(1).membership.view();
  member(2).membership.regather(now_, &gather::stall, {}, member(2));
  EXPECT_EQ(member(2).flushed, 1U);
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  for (std::uint32_t node = 1; node <= 3; ++node) {
    EXPECT_EQ(member(node).recovered, 0b1110U);
    EXPECT_EQ(member(node).membership.view(), member(1).membership.view());
  }
}

TEST_F(AnyProtocol, WhoLeavesIsNoSurvivor) {
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  last_ = member(1).membership.view();
  member(3).membership.leave(now_, member(3));
  ASSERT_TRUE(run_until([&] { return in_view_of(2); }, seconds(5)));
  EXPECT_EQ(member(1).recovered, 0b0110U);
  EXPECT_EQ(member(2).recovered, 0b0110U);
}

TEST_F(AnyProtocol, AViewLastsAlthoughNothingIsSentInIt) {
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  const ViewId view = member(1).membership.view();
  const auto ended = [&] { return member(1).membership.state() != State::operational; };
  EXPECT_FALSE(run_until(ended, seconds(5)));
  EXPECT_EQ(member(1).membership.view(), view);
  EXPECT_EQ(member(1).membership.tally().silences, 0U);
}

TEST_F(AnyProtocol, AViewMayAskForSignsOfLife) {
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  const auto ended = [&] { return member(1).membership.state() != State::operational; };
  member(1).membership.note_life(now_);
  EXPECT_FALSE(run_until(ended, milliseconds(219)));
  EXPECT_TRUE(run_until(ended, milliseconds(5)));
  EXPECT_EQ(member(1).membership.tally().silences, 1U);
}

TEST_F(AnyProtocol, ARecordThatItsFormatRefusesIsDropped) {
  bool damaged = false;
  filter_ = [&](const Mail& mail) {
    if (mail.bytes[3] != static_cast<std::byte>(FrameKind::commit) || damaged) return true;
    damaged = true;
    wire::Header header;
    wire::Commit commit;
    EXPECT_EQ(wire::decode_header(mail.bytes, header), Drop::none);
    EXPECT_EQ(wire::decode_commit(mail.bytes, number_format(), commit), Drop::none);
    for (wire::OldView& old : commit.old_views) store(old.record, std::uint64_t{0});
    BufferRef packet = pool_.take();
    packet.truncate(static_cast<std::uint32_t>(
        wire::encode_commit(header, commit, number_format(), {packet.data(), packet.size()})));
    member(mail.to.value).on_packet(now_, packet);
    EXPECT_EQ(member(mail.to.value).dropped, Drop::bad_value);
    EXPECT_EQ(member(mail.to.value).membership.state(), State::gather);
    return false;
  };
  ASSERT_TRUE(run_until([&] { return in_view_of(3); }, seconds(5)));
  EXPECT_TRUE(damaged);
}

}  // namespace
}  // namespace peal::order::test
