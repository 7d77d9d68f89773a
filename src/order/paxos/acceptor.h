// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/digest.h"
#include "order/paxos/kept_words.h"
#include "order/paxos/order_state.h"
#include "order/paxos/records.h"
#include "order/paxos/store.h"
#include "port/log.h"

namespace peal::order::paxos {

/// An acceptor's promises and votes. Each promise and each vote is on disk before any other node
/// learns of it. An acceptor votes in the order of the instances, so one number describes its votes
/// in a round: the acceptor voted for all instances from the first one of the round up to that
/// number, except instances that were decided already.
class Acceptor {
 public:
  /// Earlier incarnations of this node may have written to `log`. In this incarnation, only this
  /// object writes to `log`.
  explicit Acceptor(port::Log& log) : log_(log), begins_(log.last().next()) {}

  /// Reads from the log: promises and votes so far, the votes kept for skipped instances, and the
  /// state of the order at the last checkpoint. False: the log cannot be read, a record is not
  /// valid, the records exceed the store, or `pool` has no buffer for a value.
  bool replay(BufferPool& pool, Store& store, KeptWords& kept, OrderState& state);

  /// Call it before an order exists: records the acceptors that this node names for the bootstrap.
  /// `lives`: their acceptor incarnations. `heard`: the process incarnations in which this node
  /// heard these acceptors. Do not notify other nodes before is_taken() is true. False: the log
  /// cannot take the record now.
  bool take(const wire::Lives& lives, const std::vector<MemberId>& heard);
  bool is_taken() const { return taken_at_.value != 0 && taken_at_ <= log_.durable(); }
  /// The acceptors that take() recorded in an earlier incarnation, as read from the log at the
  /// start. Empty if the log has no such record. The first checkpoint makes the record obsolete.
  const wire::Lives& taken() const { return taken_; }
  const std::vector<MemberId>& taken_heard() const { return taken_heard_; }

  /// Records that this incarnation begins to write. Call it once, after replay(). This node sends
  /// nothing before is_started() is true. False: the log cannot take the record.
  bool start(std::uint64_t epoch);
  /// As start(epoch), but records the start in a checkpoint, because even a full log has space for
  /// a checkpoint. The other parameters are those of checkpoint().
  bool start(std::uint64_t epoch, const OrderState& state, Instance oldest, KeptWords& kept);
  bool is_started() const { return started_at_ <= log_.durable(); }
  /// The last incarnations that wrote to this log, in order.
  const std::vector<Record::Start>& starts() const { return starts_; }
  /// Records permanently that this log is an older copy.
  void put_back();
  bool was_put_back() const { return put_back_; }

  /// True if the log failed. Then this acceptor makes no more promises and casts no more votes.
  bool mute() const { return log_.failure().has_value(); }
  /// The highest promised round; lower rounds are refused. This promise may not be in the log yet.
  const Round& promised() const { return promised_; }
  /// Phase 1: promises `round`. False: a higher round is promised, or the log failed. True:
  /// is_promised() reports when the promise is on disk.
  bool prepare(const Round& round);
  bool is_promised(const Round& round) const;
  /// True while the last promise is being written to disk.
  bool promise_under_way() const;
  /// Phase 2: begins to vote in `round`. Instances below `floor` are decided. False: a higher round
  /// is promised, or the log failed.
  bool accept(const Round& round, Instance floor);
  /// Votes for the proposals of round() in `store`, in the order of instances, as long as the log
  /// takes votes. Returns the number of votes.
  std::uint32_t vote(Store& store);
  /// The next instance to vote for in round(); 0: this incarnation has accepted no round yet.
  Instance vote_next() const { return round_.count == 0 ? 0 : vote_next_; }

  /// The round of the last votes, and the instance up to which these votes are on disk.
  const Round& round() const { return round_; }
  Instance voted_upto() const;
  /// More of the log is durable. Returns true if voted_upto() grew.
  bool on_durable();
  /// The next instance of this node's order at the last checkpoint in the log.
  Instance base() const { return base_; }
  /// True if the log refused the last vote or decided value, and may take it by now.
  bool blocked() const { return blocked_; }

  /// Records a decided value for which this acceptor did not vote. False: the log cannot take the
  /// record now, or has no checkpoint yet. Then the instance must not be consumed yet.
  bool note_decided(Instance instance, const wire::ValueHead& head, ByteView bytes);
  /// Writes a checkpoint of `state`, the present state. The log may then drop records of instances
  /// below `oldest`, except those of instances in `kept`. The caller ensures that, from `oldest`
  /// on, the last record of each consumed instance holds the decided value. False: the log cannot
  /// take the checkpoint now.
  bool checkpoint(const OrderState& state, Instance oldest, KeptWords& kept);

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Pending {
    Instance instance{};
    LogPosition position{};
  };
  /// A position in the log, and the highest instance of all records before that position.
  struct Mark {
    Instance top{};
    LogPosition at{};
  };
  class Replay;

  Result<LogPosition, Errc> write(const Record& record);
  void add_start(const Record::Start& start);
  bool write_words(KeptWords::Range& range);
  bool write_kept(Record& checkpoint, KeptWords& kept);

  port::Log& log_;
  const LogPosition begins_;  ///< position of the first record that this incarnation may write
  LogPosition started_at_{};  ///< position of the record of start()
  Round promised_{};
  LogPosition promised_at_{};  ///< position of the record of the last requested promise
  bool promise_written_ = true;
  wire::Lives taken_;  ///< the acceptor incarnations that take() recorded before the restart
  std::vector<MemberId> taken_heard_;
  LogPosition taken_at_{};  ///< position of the last record of take()
  std::vector<Record::Start> starts_;
  bool put_back_ = false;
  Round round_{};
  Instance vote_next_ = 0;
  /// The next instance of the last checkpoint in the log. A restart can read back at most
  /// Store::ahead_max() instances from base_ on, so this node votes for no later instances. A crash
  /// that loses the last checkpoint also loses the votes after that checkpoint. The earlier votes
  /// are within the limit of an earlier checkpoint.
  Instance base_ = 1;
  std::deque<Pending> pending_;  ///< votes that are not on disk yet
  bool blocked_ = false;
  bool knows_order_ = false;  ///< the log has a checkpoint; it is the first record of each order
  Instance top_ = 0;          ///< the highest instance that has a record
  std::deque<Mark> marks_;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::paxos
