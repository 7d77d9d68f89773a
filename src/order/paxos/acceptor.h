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

/// Promises and votes, each on disk before anybody hears of it. Votes of a round are given in the
/// order of the instances, so that one number says for which: all from the round's first to that
/// one, but for those that are decided anyway.
class Acceptor {
 public:
  /// Others may write to the same log: none has in this incarnation.
  explicit Acceptor(port::Log& log) : log_(log), begins_(log.last().next()) {}

  /// What the log says: promises and votes so far, what was kept of skipped instances, and where
  /// the order begins. False: the log holds something that this release did not write, or there is
  /// no room for its votes.
  bool replay(BufferPool& pool, Store& store, KeptWords& kept, OrderState& state);

  /// Before the order: whom it takes for the acceptors that begin one. Nobody is told before
  /// is_taken(). False: the log does not take it now.
  bool take(const wire::Lives& lives, const std::vector<MemberId>& heard);
  bool is_taken() const { return taken_at_.value != 0 && taken_at_ <= log_.durable(); }
  /// What the log said of it at the start, and let go of with the first checkpoint; empty: nothing.
  const wire::Lives& taken() const { return taken_; }
  const std::vector<MemberId>& taken_heard() const { return taken_heard_; }

  /// The log says that this incarnation begins to write here; to be called once, after replay().
  /// Nobody is told anything before is_started(). False: the log does not take it.
  bool start(std::uint64_t epoch);
  /// The same with a checkpoint, for which there is room in a log that is full.
  bool start(std::uint64_t epoch, const OrderState& state, Instance oldest, KeptWords& kept);
  bool is_started() const { return started_at_ <= log_.durable(); }
  /// The last incarnations that wrote to this log, in order.
  const std::vector<Record::Start>& starts() const { return starts_; }
  /// The log is an older copy of what it was, and says so from now on.
  void put_back();
  bool was_put_back() const { return put_back_; }

  /// The log failed: nothing is promised and nothing voted for any more.
  bool mute() const { return log_.failure().has_value(); }
  /// No round below this one is answered. May be ahead of what is on disk.
  const Round& promised() const { return promised_; }
  /// Phase 1: false if a higher round is promised. True: is_promised() says when it is on disk.
  bool prepare(const Round& round);
  bool is_promised(const Round& round) const;
  /// The last promise is on its way to the disk.
  bool promise_under_way() const;
  /// Phase 2: instances below `floor` are decided. False if a higher round is promised.
  bool accept(const Round& round, Instance floor);
  /// Votes for what the store has heard of in the round, in order, as far as the log takes it.
  /// Returns the instances voted for.
  std::uint32_t vote(Store& store);
  /// The next instance to vote for in round(), or 0: none is going on.
  Instance vote_next() const { return round_.count == 0 ? 0 : vote_next_; }

  /// The round of the last votes, and up to where they are on disk.
  const Round& round() const { return round_; }
  Instance voted_upto() const;
  /// The log wrote something: true if voted_upto() grew.
  bool on_durable();
  /// Where the last checkpoint in the log says that this node is.
  Instance base() const { return base_; }
  /// True if the log did not take a vote, and may by now.
  bool blocked() const { return blocked_; }

  /// Notes what was decided where this acceptor voted for something else, or not at all. False: the
  /// log does not take it now, or has no checkpoint yet; the instance must not be consumed before
  /// it has.
  bool note_decided(Instance instance, const wire::ValueHead& head, ByteView bytes);
  /// Lets go of records of instances below `oldest`, from which on the last record of each consumed
  /// instance is what was decided; but for those that are kept. `state`: as of now.
  /// False: the log does not take it now.
  bool checkpoint(const OrderState& state, Instance oldest, KeptWords& kept);

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Pending {
    Instance instance{};
    LogPosition position{};
  };
  /// A place in the log behind which there are only instances above `top`, or needed by nobody.
  struct Mark {
    Instance top{};
    LogPosition at{};
  };
  class Replay;

  Result<LogPosition> write(const Record& record);
  void add_start(const Record::Start& start);
  bool write_words(KeptWords::Range& range);
  bool write_kept(Record& checkpoint, KeptWords& kept);

  port::Log& log_;
  const LogPosition begins_;  ///< of the first record that this incarnation may have written
  LogPosition started_at_{};  ///< of the record that says that it begins
  Round promised_{};
  LogPosition promised_at_{};  ///< of the record that holds it, once it was asked for
  bool promise_written_ = true;
  wire::Lives taken_;  ///< as the log said at the start
  std::vector<MemberId> taken_heard_;
  LogPosition taken_at_{};  ///< of the last record that says it
  std::vector<Record::Start> starts_;
  bool put_back_ = false;
  Round round_{};
  Instance vote_next_ = 0;
  /// Of the last checkpoint in the log. No vote is so far ahead of it that it could not be read
  /// back: whatever the log loses, it loses the votes behind a checkpoint with it.
  Instance base_ = 1;
  std::deque<Pending> pending_;  ///< votes that are not on disk yet
  bool blocked_ = false;
  bool knows_order_ = false;  ///< the log has a checkpoint, which is the first word on any order
  Instance top_ = 0;          ///< the highest instance of which there is a record
  std::deque<Mark> marks_;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::paxos
