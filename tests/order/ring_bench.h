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

/// One engine of the ring in a cluster of three; the test plays the other two, the node, and the
/// clock.
class RingBench : public testing::Test, public Host, public Effects {
 protected:
  using Drop = wire::Drop;
  using Kind = wire::FrameKind;
  static constexpr MemberId kA{{1}, 101}, kB{{2}, 102}, kC{{3}, 103};
  static constexpr std::uint64_t kRingCluster = 7;

  struct Sent {
    NodeId to{};  ///< 0: to all
    Lane lane{};
    Kind kind{};
    std::vector<std::byte> bytes;
  };

  /// It becomes this member, in a view of all three.
  void be(const MemberId& self, const ring::Options& options = {});
  /// The record of the next view, and of the old one, that the others agree on.
  using Change = std::function<void(wire::Commit&)>;
  /// The view is over. All gather, and the commit token arrives for the first time: returns it with
  /// this member's changes.
  wire::Commit gather(const Change& change = [](wire::Commit&) {});
  /// It arrives for the second time, changed: this member is in recovery then.
  void recover(
      wire::Commit commit, const Change& change = [](wire::Commit&) {});
  /// A token of the recovery arrives.
  wire::Token recovery_token();
  /// All are complete.
  void install();

  void hear(const MemberId& from, const wire::Token& token);
  void hear(const MemberId& from, const wire::Data& data, std::string_view text = "text");
  void hear(const MemberId& from, const wire::HoldCancel& cancel);
  void hear(const std::vector<std::byte>& bytes);
  /// A unit of another member, as that sends it.
  wire::Data unit(const MemberId& origin, Seq seq, Service service = Service::agreed) const;
  /// The next token if the others change nothing.
  wire::Token next() const;
  /// The token comes from the predecessor. Returns the token that is sent on; nothing if it is
  /// kept.
  std::optional<wire::Token> pass(const wire::Token& token);
  /// The same where it is sent on.
  wire::Token visit(const wire::Token& token);
  void submit(int units, Service service = Service::agreed);
  void work() { engine_->on_work(now_, *this); }
  void run(Duration span);

  const MemberId& predecessor() const;
  std::size_t index() const;
  std::size_t count(Kind kind) const;
  std::vector<wire::Data> data() const;  ///< that was sent
  std::uint64_t counter(std::string_view name) const;
  std::size_t events(const EventKind* kind) const;
  std::vector<std::string> take_log() { return std::exchange(log_, {}); }

  // Host, Effects
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
  ring::ViewOptions agreed_{1'472, 1, 4'096};  ///< what the others ask of the next view
  ViewId view_{};
  std::vector<Sent> sent_;
  std::vector<Event> events_;
  std::vector<std::string> log_;      ///< "view 123", "trans 12", "4:text", "t5:text"
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
  wire::Token token_;  ///< as it was sent last
};

}  // namespace peal::order::test
