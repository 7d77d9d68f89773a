// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "order/engine.h"
#include "order/ring/commit_record.h"
#include "order/ring/options.h"
#include "wire/frames.h"

namespace peal::order::test {

/// One engine of the ring in a cluster of three. The test plays the other two members, the node and
/// the clock.
class RingBench : public testing::Test, public Host, public Effects {
 protected:
  using Drop = wire::Drop;
  using Kind = wire::FrameKind;
  static constexpr MemberId kA{{1}, 101}, kB{{2}, 102}, kC{{3}, 103};
  static constexpr std::uint64_t kRingCluster = 7;

  struct Sent {
    NodeId to{};  ///< the receiver; 0: all nodes
    Lane lane{};
    Kind kind{};
    std::vector<std::byte> bytes;
  };

  /// Starts the member `self`, and brings it into a view of all three members.
  void be(const MemberId& self, const ring::Options& options = {});
  /// Changes a commit token before it arrives at this member.
  using Change = std::function<void(wire::Commit&)>;
  /// The view ends: all members gather. Then the commit token, changed by `change`, arrives for the
  /// first time; if this member is the representative, it creates the token and none arrives.
  /// Returns the commit token that this member sends.
  wire::Commit gather(const Change& change = [](wire::Commit&) {});
  /// The commit token, after `change`, arrives for the second time, and the recovery starts.
  void recover(
      wire::Commit commit, const Change& change = [](wire::Commit&) {});
  /// The next token of the recovery. It says that the other two members have recovered all.
  wire::Token recovery_token();
  /// All members complete their recovery, and this member installs the new view.
  void install();

  void hear(const MemberId& from, const wire::Token& token);
  void hear(const MemberId& from, const wire::Data& data, std::string_view text = "text");
  void hear(const MemberId& from, const wire::HoldCancel& cancel);
  void hear(const std::vector<std::byte>& bytes);
  /// The header of a unit of another member, at this position.
  wire::Data unit(const MemberId& origin, Seq seq, Service service = Service::agreed) const;
  /// The next token that arrives here, if the other members change nothing in it.
  wire::Token next() const;
  /// The token arrives from the predecessor. Returns the token that this member sends on; nothing
  /// if this member keeps the token.
  std::optional<wire::Token> pass(const wire::Token& token);
  /// Like pass(); the test fails if this member keeps the token.
  wire::Token visit(const wire::Token& token);
  void submit(int units, Service service = Service::agreed);
  void work() { engine_->on_work(now_, *this); }
  void run(Duration span);

  const MemberId& predecessor() const;
  std::size_t index() const;
  std::size_t count(Kind kind) const;
  std::vector<wire::Data> data() const;  ///< the headers of the data packets that were sent
  std::uint64_t counter(std::string_view name) const;
  std::size_t events(const EventKind* kind) const;
  std::vector<std::string> take_log() { return std::exchange(log_, {}); }

  // Overrides of Host and Effects.
  std::uint32_t backlog_units() const override { return static_cast<std::uint32_t>(queue_.size()); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override;
  std::uint32_t receive_room_units() const override { return room_; }
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override { send({}, lane, packet); }
  void originate(const ViewId&, Seq seq) override { originated_.push_back(seq); }
  void deliver(const Delivery& delivery) override;
  void install(const View& view) override;
  void report(const Event& event) override { events_.push_back(event); }
  void fatal(std::string_view reason) override { FAIL() << reason; }

  BufferPool pool_{2'048, 2'048};  // outlives the engine
  Instant now_{1'000'000'000};
  std::unique_ptr<Engine> engine_;
  MemberId self_{};
  ring::ViewOptions agreed_{1'472, 1, 4'096};  ///< the options in the commit token of the others
  ViewId view_{};
  std::vector<Sent> sent_;
  std::vector<Event> events_;
  std::vector<std::string> log_;      ///< lines such as "view 123", "trans 12", "4:text", "t5:text"
  std::vector<Delivery> deliveries_;  ///< without their bytes
  std::vector<View> views_;           ///< without their members
  std::vector<Seq> originated_;
  std::deque<Service> queue_;
  std::uint32_t room_ = 1'000'000;
  std::uint32_t unit_bytes_max_ = 0;

 private:
  template <class Frame, class Encode>
  void say(const MemberId& from, Kind kind, const Frame& frame, Encode encode);
  void join();
  std::optional<wire::Commit> last_commit() const;
  std::optional<wire::Token> last_token() const;

  std::uint64_t joins_ = 0;
  wire::Token token_;  ///< the last token that this member sent
};

}  // namespace peal::order::test
