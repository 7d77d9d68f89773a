// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/buffer.h"
#include "order/evs/membership.h"
#include "order/member_set.h"
#include "order/ring/commit_record.h"
#include "order/ring/options.h"
#include "order/ring/packets.h"
#include "order/ring/timers.h"
#include "order/ring/vocabulary.h"
#include "order/ring/windows.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// The Accelerated Ring: one token gives every unit its position. A member orders all packets of
/// its visit before it passes the token on, and sends part of them afterwards. evs::Membership
/// forms the views. This engine repairs the old view on the new view's token.
///
/// engine.cc: inputs, timers, status. visit.cc: normal operation. data.cc: packets between visits.
/// requests.cc: retransmission. recovery.cc: repair and installation.
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
  NodesWait nodes_wait() const override;
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return prefer_; }
  MemberId self() const override { return membership_.self(); }
  WaitReason why() const override;
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;

 private:
  static constexpr std::size_t kHistory = 8;

  /// The state of the current view; each view starts with a new one.
  struct Rotation {
    explicit Rotation(std::uint64_t first)
        : last_hop(first),
          sent_hop(first),
          delivered(first),
          safe_line(first),
          aru_sent_before(first),
          token_seq(first),
          requested_high(first),
          stalled_aru(first) {
      seq_history.fill(first);
    }
    std::uint64_t last_hop;  ///< hop of the last accepted token
    Instant sent_at{};       ///< when this member last sent the token
    std::uint64_t sent_hop;  ///< hop of the last token that this member sent
    Seq delivered;
    Seq safe_line;  ///< highest position known to be received by all members
    std::array<Seq, kHistory> seq_history{};  ///< token.seq as received; [0] is this rotation
    Seq aru_sent_before;                      ///< aru on the token that this member sent last
                                              ///< rotation
    Seq token_seq;                            ///< seq on the last token that this member sent
    std::uint32_t fcc_before = 0;  ///< this member's contributions to the token's sums, last
                                   ///< rotation
    std::uint32_t losses_before = 0;
    std::uint32_t limited_before = 0;
    std::uint32_t backlog_before = 0;
    Seq requested_high;  ///< highest position that this member ever requested
    std::uint32_t idle_rounds = 0;
    std::uint32_t rests = 0;        ///< consecutive rests of the token
    std::uint32_t last_credit = 0;  ///< of the last token, as is last_credit_index
    std::uint16_t last_credit_index = wire::kNoIndex;
    bool quiet = false;  ///< the last visit changed nothing: the token may be resting
    // stall detection
    Seq stalled_aru;
    std::uint16_t stalled_index = wire::kNoIndex;
    std::uint32_t stall_rounds = 0;
    Instant stall_since{};
    std::uint32_t suspects = 0;  ///< members suspected so far of being unable to send
    // pacing of requests that no member can answer
    std::uint64_t request_digest = 0;
    std::uint32_t same_requests = 0;
  };

  /// An attempt at a view whose old view is under repair.
  struct Repair {
    bool active = false;
    evs::Agreement agreement;
    OldViewRecord old;  ///< what the survivors hold together
    MemberSet bound;    ///< members whose packets are delivered even behind a gap
    std::uint64_t last_hop = 0;
    std::uint64_t rounds = 0;
    Instant since{};
    bool gave_time = false;  ///< this member blocked recovery and gave the others time to accuse it
    bool done = false;
    /// If this member misses packets: another member that missed packets at its last visit.
    std::optional<std::uint16_t> other_incomplete;
  };

  // evs::Protocol
  void flush(Effects& out) override;
  void abandon() override;
  const wire::CommitFormat& commit_format() const override { return kCommitFormat; }
  void fold_options(wire::CommitOptions& options) const override;
  void freeze(std::vector<std::byte>& record) override;
  bool accepts(ByteView record) const override;
  void recover(Instant now, const evs::Agreement& agreement, Effects& out) override;
  void lead_recovery(Instant now, Effects& out) override;
  void install_alone(Instant now, Effects& out) override;

  // engine.cc
  void dispatch(Instant now, const wire::Header& header, const BufferRef& packet, Effects& out);
  void fire(Instant now, evs::Timer timer, Effects& out);
  void drop(wire::Drop reason) { membership_.tally().drop(reason); }

  // visit.cc
  void on_token(Instant now, const MemberId& from, Effects& out);
  void visit(Instant now, Effects& out);
  void work_on_token(Instant now, Effects& out);
  std::uint32_t allowance(std::uint32_t others, std::uint32_t answered);
  std::uint32_t order_units(std::uint32_t limit, Effects& out);
  void send_own(Seq seq, bool post, Effects& out);
  void update_token(Instant now, std::uint32_t others, std::uint32_t answered, std::uint32_t sent,
                    std::uint32_t limit);
  void detect_stall(Instant now);
  void note_list(Instant now, Effects& out);
  void pass_on(Instant now, Effects& out);
  void rest(Instant now);
  void send_token(Instant now, Effects& out);
  bool should_hold() const;
  void settle(Seq aru_sent, Effects& out);
  void deliver_ready(Effects& out);
  void release_held(Instant now, Effects& out);
  void cancel_hold(Instant now, Effects& out);
  void visit_alone(Instant now, Effects& out);
  bool alone() const { return membership_.members().size() == 1; }
  bool can_originate() const { return host_.backlog_units() > 0; }
  std::uint32_t unit_bytes_max() const {
    return packet_bytes_max_ - static_cast<std::uint32_t>(wire::kDataHeaderBytes);
  }

  // requests.cc
  wire::RequestSection* section_of(const ViewId& view);
  template <class Settled>
  std::uint32_t answer(wire::RequestSection& section, Settled settled, Effects& out);
  std::uint32_t answer_requests(Effects& out);
  void answer_in_recovery(Effects& out);
  bool may_answer(const Packet& packet) const;
  void retransmit(Packet& packet, Effects& out);
  template <class NextMissing>
  std::uint32_t merge_requests(const ViewId& view, NextMissing next_missing);
  std::uint32_t add_requests();
  void request_missing();
  Duration pace_of_requests();

  // data.cc
  void on_data(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);
  bool store(const wire::Data& data, const BufferRef& packet);

  // recovery.cc
  void visit_recovery(Instant now, Effects& out);
  void recovery_check();
  bool in_union(Seq seq) const;
  std::uint64_t missing_count() const;
  wire::Token first_token(const ViewId& view) const;
  void finish_old_view(Effects& out);
  void install(Instant now, Effects& out);
  void deliver(const Packet& packet, bool transitional, Effects& out);
  void on_guard(Instant now, Effects& out);
  MemberId incomplete_member(std::optional<std::uint16_t> index) const;

  Options options_;
  wire::Checksum checksum_;
  BufferPool& pool_;
  Host& host_;
  evs::Membership membership_;
  evs::Timers& timers_;

  const std::uint64_t first_count_;  // start of positions and hops
  Packets packets_;
  Rotation r_;
  MemberSet obligation_;
  Repair repair_;
  std::uint32_t packet_bytes_max_ = 0;  // agreed for the current view
  std::uint32_t request_lag_ = 1;
  std::uint32_t max_gap_ = 0;
  GlobalWindow window_;
  AcceleratedWindow accelerated_;
  std::uint32_t personal_window_ = 0;  // as used on the last visit
  std::uint32_t global_window_ = 0;

  wire::Token token_;  // the token of this visit, or the one held
  wire::Token arriving_;
  bool holding_ = false;
  bool pacing_ = false;
  Lane prefer_ = Lane::data;
  bool stale_input_ = false;  // packets read now date from before a pause

  std::uint16_t list_best_ = 0;                // the longest run of the pending list in this view
  std::uint16_t list_block_ = wire::kNoIndex;  // the member that lacks the list
  bool list_moves_ = false;                    // the last token advanced the run
  bool list_wanted_ = false;                   // this member waits for the token, to put the
                                               // pending list on it

  struct Counts {
    std::uint64_t visits = 0, originated = 0, delivered = 0, sent = 0, retransmitted = 0,
                  requested = 0, duplicates = 0, data_received = 0, data_in_recovery = 0, held = 0,
                  stalls = 0, guards = 0, safe_line_fell = 0, no_buffer = 0;
  } counts_;
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::ring
