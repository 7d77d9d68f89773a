// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "order/evs/membership.h"
#include "wire/trial.h"

namespace peal::order::test {

/// The membership of node 2. The test plays the other members, the engine and the clock.
class MembershipBench : public testing::Test, public evs::Protocol, public Effects {
 protected:
  using Membership = evs::Membership;
  using State = evs::State;
  using Drop = wire::Drop;
  using Kind = wire::FrameKind;

  static constexpr std::uint64_t kCluster = 7;
  static constexpr std::uint64_t kFirstCount = 1'000;
  static constexpr MemberId kA{{1}, 101}, kSelf{{2}, 102}, kC{{3}, 103}, kD{{4}, 104};

  struct Sent {
    NodeId to{};  ///< the receiver; 0: all nodes
    Lane lane{};
    Kind kind{};
    std::vector<std::byte> bytes;
  };

  static evs::Settings usual_settings();
  /// Creates a new membership, and starts it.
  void begin(const evs::Settings& settings = usual_settings());
  Membership& it() { return *membership_; }

  // A frame of another member arrives. False: admit() refused it. Otherwise dropped() returns the
  // result of on_frame().
  bool hear(const MemberId& from, const wire::Join& join, std::uint64_t cluster = kCluster);
  bool hear(const MemberId& from, const wire::ProbeFrame& probe);
  bool hear(const MemberId& from, const wire::Commit& commit);
  bool hear(const MemberId& from, const wire::EpochNotice& notice);
  bool hear(const MemberId& from, const wire::Trial& trial);
  Drop dropped() const { return dropped_; }
  std::uint64_t drops(Drop reason) { return it().tally().drops[static_cast<std::size_t>(reason)]; }
  /// A JOIN with the next number; its sender hears all `processes` except the `failed` ones.
  wire::Join join(const MemberSet& processes, const MemberSet& failed = {});
  /// A PROBE of a view without this member. The members of that view hear `heard`.
  static wire::ProbeFrame probe(const MemberSet& heard, std::uint64_t list = 1);

  /// The other `members` send JOINs until this member agrees with them on these members.
  void agree(const MemberSet& members);
  /// The representative's commit token in its first rotation, as it arrives at this member.
  wire::Commit first_commit(const MemberSet& members, std::uint64_t number);
  /// The last commit token that this member sent, as it comes back in the second rotation.
  wire::Commit second_commit();
  const MemberId& predecessor_in(const wire::Commit& commit) const;
  /// Brings this member into a view of `members`, on which all of them agree.
  void into_view(const MemberSet& members);
  /// This member accuses the `lost` members, and enters a view of the `rest`.
  void lose(const MemberSet& lost, const MemberSet& rest);

  void run(Duration span);
  bool run_until_sent(Kind kind, Duration span);
  /// All sent packets of one kind. Forgets all sent packets, also those of other kinds.
  std::vector<wire::Join> take_joins();
  std::vector<wire::ProbeFrame> take_probes();
  std::vector<wire::Trial> take_trials();
  std::size_t count(Kind kind) const;
  std::size_t events(const EventKind* kind) const;
  /// The last event of the kind; the test fails if there is none.
  const Event& last_event(const EventKind* kind) const;

  // Overrides of evs::Protocol. The record of an old view is one number other than 0.
  const wire::CommitFormat& commit_format() const override;
  void flush(Effects&) override { ++flushed_; }
  void abandon() override { ++abandoned_; }
  void fold_options(wire::CommitOptions&) const override {}
  void freeze(std::vector<std::byte>& record) override;
  bool accepts(ByteView) const override { return accepts_; }
  void recover(Instant, const evs::Agreement& agreement, Effects&) override;
  void lead_recovery(Instant, Effects&) override { ++led_; }
  void install_alone(Instant, Effects&) override { ++alone_; }

  // Overrides of Effects.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override { send({}, lane, packet); }
  void originate(const ViewId&, Seq) override {}
  void deliver(const Delivery&) override {}
  void install(const View&) override {}
  void report(const Event& event) override { events_.push_back(event); }
  void fatal(std::string_view) override { ++fatal_; }

  Instant now_{1'000'000'000};
  std::vector<Sent> sent_;
  std::vector<Event> events_;
  std::optional<evs::Agreement> agreement_;  ///< the agreement of the last recover()
  bool accepts_ = true;
  int flushed_ = 0, abandoned_ = 0, led_ = 0, alone_ = 0, fatal_ = 0;

 private:
  template <class Frame, class Encode>
  bool say(const MemberId& from, Kind kind, const Frame& frame, Encode encode,
           std::uint64_t cluster = kCluster);

  BufferPool pool_{static_cast<std::uint32_t>(wire::kPacketBytesMax), 16};
  std::unique_ptr<Membership> membership_;
  std::uint64_t join_number_ = 0;
  Drop dropped_ = Drop::none;
};

}  // namespace peal::order::test
