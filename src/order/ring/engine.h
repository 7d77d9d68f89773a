// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "order/evs/membership.h"
#include "order/ring/commit_record.h"
#include "order/ring/flow_control.h"
#include "order/ring/list_run.h"
#include "order/ring/options.h"
#include "order/ring/parts.h"
#include "order/ring/recovery.h"
#include "order/ring/requests.h"
#include "order/ring/stall_watch.h"
#include "order/ring/timers.h"
#include "order/ring/token_rest.h"
#include "order/ring/view_packets.h"
#include "order/ring/vocabulary.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// The Accelerated Ring: one token gives every unit its position. A member orders all packets of a
/// visit before it passes on the token, and sends some of these packets after the token.
/// evs::Membership forms the views. When a new view forms, this engine repairs the old view with
/// requests on the new view's token.
///
/// Each part of the task is a class with its own state (README.md, "The files"). The engine owns
/// one object of each class and the token. For each input, it decides which objects act.
///
/// engine.cc: inputs, timers, status. messages.cc: packets. visit.cc: visits of the token.
class RingEngine final : public Engine, private evs::Protocol {
 public:
  RingEngine(const Config& config, BufferPool& packets, Host& host);

  void start(Instant now, Effects& out) override;
  void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) override;
  void on_old_incarnation(Instant now, const MemberId& newest, Effects& out) override;
  void on_timer(Instant now, Effects& out) override;
  void on_work(Instant now, Effects& out) override;
  void on_pause(Instant now, Duration gap, Effects& out) override;
  void on_drained(Instant now, Effects& out) override;
  void leave(Instant now, Effects& out) override;
  void set_nodes(Instant now, const NodeList& nodes, Effects& out) override;
  NodesWait nodes_wait() const override { return list_.waits(); }
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return prefer_; }
  MemberId self() const override { return membership_.self(); }
  WaitReason why() const override;
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;

 private:
  /// Hop numbers of the token in the current view.
  struct Hops {
    explicit Hops(std::uint64_t first) : last(first), sent(first) {}
    std::uint64_t last;  ///< hop of the last accepted token
    std::uint64_t sent;  ///< hop of the last token that this member sent
    Instant sent_at{};   ///< when this member last sent the token
  };

  // evs::Protocol
  void flush(Effects& out) override;
  void abandon() override {
    rest_.abandon();
    recovery_.abandon();
  }
  const wire::CommitFormat& commit_format() const override { return kCommitFormat; }
  void fold_options(wire::CommitOptions& options) const override;
  void freeze(std::vector<std::byte>& record) override { recovery_.freeze(record); }
  bool accepts(ByteView record) const override { return recovery_.accepts(record); }
  void recover(Instant now, const evs::Agreement& agreement, Effects& out) override {
    recovery_.begin(now, agreement, out);
  }
  void lead_recovery(Instant now, Effects& out) override;
  void install_alone(Instant now, Effects& out) override;

  // engine.cc
  void fire(Instant now, evs::Timer timer, Effects& out);

  // messages.cc
  void dispatch(Instant now, const wire::Header& header, const BufferRef& packet, Effects& out);
  void on_token(Instant now, const MemberId& from, Effects& out);
  void on_data(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);

  // visit.cc
  void visit(Instant now, Effects& out);
  void visit_alone(Instant now, Effects& out);
  void visit_recovery(Instant now, Effects& out);
  void work_on_token(Instant now, Effects& out);
  void update_aru();
  void pass_on(Instant now, Effects& out);
  void send_token(Instant now, Effects& out);
  void install(Instant now, Effects& out);

  const Options options_;
  const wire::Checksum checksum_;
  const std::uint64_t cluster_;
  BufferPool& pool_;
  Host& host_;
  evs::Membership membership_;
  evs::Timers& timers_;

  const std::uint64_t first_;  ///< positions and hops begin after this number
  ViewOptions limits_;         ///< agreed for the current view
  wire::Token token_;          ///< the token of the last visit; this member may still hold it
  wire::Token arriving_;
  Counts counts_;
  const Parts parts_;

  ViewPackets view_;
  FlowControl flow_;
  Recovery recovery_;
  Requests requests_;
  StallWatch stall_;
  ListRun list_;
  TokenRest rest_;

  Hops hops_;
  Seq token_seq_;  ///< seq on the last token that this member sent
  Lane prefer_ = Lane::data;
  bool stale_input_ = false;  ///< packets that are read now may be older than the last pause
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::ring
