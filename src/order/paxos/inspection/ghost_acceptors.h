// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "order/paxos/inspection/ghost_order.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// Values by instance. Most instances in a range have a value. The range has at most kMost
/// instances.
template <class What>
class ByInstance {
 public:
  static constexpr std::size_t kMost = 1U << 17;

  void put(wire::Instance instance, const What& what) {
    if (all_.empty()) first_ = instance;
    if (instance < first_ && first_ + all_.size() - instance > kMost) return;
    for (; instance < first_; --first_) all_.emplace_front();
    if (instance - first_ >= kMost) return;
    if (instance - first_ >= all_.size()) all_.resize(instance - first_ + 1);
    std::optional<What>& at = all_[instance - first_];
    if (!at) ++count_;
    at = what;
  }
  const What* find(wire::Instance instance) const {
    if (instance < first_ || instance - first_ >= all_.size()) return nullptr;
    const std::optional<What>& at = all_[instance - first_];
    return at ? &*at : nullptr;
  }
  void erase_below(wire::Instance instance) {
    for (; !all_.empty() && first_ < instance; all_.pop_front(), ++first_) {
      if (all_.front()) --count_;
    }
  }
  std::size_t count() const { return count_; }
  /// Calls `each(instance, what)` for the instances from `from` on, in order, until `each` returns
  /// false.
  template <class Each>
  void each_from(wire::Instance from, Each each) const {
    const wire::Instance end = first_ + all_.size();
    for (wire::Instance k = std::max(from, first_); k < end; ++k) {
      const std::optional<What>& at = all_[k - first_];
      if (at && !each(k, *at)) return;
    }
  }

 private:
  wire::Instance first_ = 0;
  std::deque<std::optional<What>> all_;
  std::size_t count_ = 0;
};

/// The records that the acceptors of one ensemble wrote to their logs, which of these records are
/// durable, and what the acceptors reported. The code calls an acceptor incarnation a life: one log
/// or, with votes in memory, one process. An acceptor that lost its log has a new life without
/// votes. It may promise and vote only once a list names that life.
///
/// A log that was replaced by an older copy lacks records, which is not an error of the node. Once
/// another acceptor has reported to the node a record that the copy lacks, the node must not report
/// promises and votes any more. Without such a report, the node cannot detect the copy
/// (docs/wal.md).
///
/// Memory: at most kLivesMax lives, and for each life the records that its last checkpoint does not
/// replace.
class GhostAcceptors {
 public:
  using Instance = wire::Instance;
  using Round = wire::Round;
  using Record = paxos::Record;
  static constexpr std::size_t kLivesMax = 256;

  GhostAcceptors(bool on_disk, GhostOrders& orders, GhostReport report)
      : on_disk_(on_disk), orders_(orders), report_(std::move(report)) {}

  // Events of an acceptor's log. `id` identifies the life. `last` is the last position read.
  // `put_back`: the log is an older copy.
  void opened(MemberId self, std::uint64_t id, LogPosition newest_segment, bool put_back);
  void read(NodeId node, LogPosition position, const Record& record);
  void replayed(NodeId node, LogPosition last);
  void appended(NodeId node, LogPosition position, const Record& record);
  /// The log may discard records before `keep_from`.
  void let_go(NodeId node, LogPosition keep_from);
  void durable(NodeId node, LogPosition upto);

  /// The acceptor `from` has reported to `who` what it remembers of the log of `who`.
  void told_of_log(MemberId who, MemberId from, const wire::LogAnswer& answer);

  // The packets that acceptors send.
  void said_state(MemberId from, const wire::State& state);
  void said_promise(MemberId from, const wire::Promise& promise);
  void said_lives(MemberId from, const wire::Lives& lives);
  void said_checkpoint(MemberId from, const wire::Checkpoint& state);
  void said_decided(MemberId from, Instance instance, std::uint64_t value);

  const LogFigures& figures() const { return figures_; }

 private:
  struct Vote {
    Round round{};
    std::uint64_t value = 0;
    LogPosition at{};
  };
  struct Noted {
    std::uint64_t value = 0;
    LogPosition at{};
  };
  /// A record that is not durable yet.
  struct Pending {
    LogPosition at{};
    Round round{};          ///< the promised round
    Instance instance = 0;  ///< instance of a vote; 0: the record is no vote
    std::uint64_t value = 0;
    Instance next = 0;        ///< next instance of a checkpoint
    std::uint64_t taken = 0;  ///< if it records acceptors: id of the order that they bootstrap
    std::uint64_t begun = 0;  ///< epoch of the incarnation that starts
  };
  /// The content of a log.
  struct Log {
    std::uint64_t order = 0;  ///< id of the order that the log names; 0: none yet
    std::uint64_t list = 0;   ///< number of the last list in the log
    Round promised{};
    LogPosition promised_at{};  ///< position of the last record of `promised`
    Round promised_durable{};
    ByInstance<Vote> votes;     ///< the last vote of each instance from `next` up
    ByInstance<Noted> decided;  ///< the recorded decided values from `next` up
    Instance next = 0;          ///< next instance of the last checkpoint; 0: no checkpoint
    Instance next_durable = 0;
    LogPosition checkpoint_at{};
    std::uint64_t taken = 0;  ///< newest record of acceptors: id of the order that they bootstrap
    LogPosition taken_at{};
    std::uint64_t taken_durable = 0;
    std::uint64_t begun_durable = 0;  ///< epoch of the last incarnation that the log records
    LogPosition durable{};
    std::deque<Pending> pending;
  };
  struct Life {
    std::uint64_t id = 0;
    NodeId node{};
    Log log;
    /// The ids of the orders whose bootstrap acceptors this life has named in durable records.
    std::set<std::uint64_t> took;
    std::uint64_t epoch = 0;  ///< epoch of the process that uses the log
    /// By epoch: the last position that the process of this epoch wrote and that the log can still
    /// hold. If an older copy replaces the log, the position is lowered to the end of the copy.
    std::map<std::uint64_t, LogPosition> held;
    bool put_back = false;  ///< the log that is being read is an older copy
    /// Another acceptor has shown the process that its log is an older copy, so the process must
    /// not report promises and votes.
    bool told = false;
    // The promises and votes that the acceptor has reported to other nodes.
    Round promise_said{};
    Round voted{};
    Instance voted_upto = 0;
    // Used while the log is read.
    bool reading = false;
    Log before;
    bool any = false;
    LogPosition first_read{}, newest_segment{};
    Round highest_vote_read{};
  };

  Life& life(NodeId node, std::uint64_t id);
  Life* current(NodeId node);
  std::string name(const Life& life) const;
  void fold(Life& life, LogPosition position, const Record& record, bool reading);
  void fold_round(Life& life, LogPosition position, const Round& round);
  std::uint64_t fold_vote(Life& life, LogPosition position, const Record& record, bool reading);
  void fold_checkpoint(Life& life, LogPosition position, const Record& record, bool reading);
  void check_rights(const Life& life, const Round& round);
  void check_begun(MemberId from);
  void check_silence(const Life& life, const std::string& what);
  void check_remembers(const Life& life);
  void check_vote_told(const Life& life, Instance instance, const Round& round);
  void became_durable(Life& life, const Pending& pending);

  const bool on_disk_;
  GhostOrders& orders_;
  GhostReport report_;
  /// A deque, so that pointers stay valid while it grows.
  std::deque<Life> lives_;
  std::map<NodeId, std::uint64_t> current_;  ///< the present or last life of each node
  std::map<NodeId, std::uint64_t> follows_;  ///< the order that each node reported last
  LogFigures figures_;
};

/// Identifies the order that begins with these acceptor incarnations.
std::uint64_t order_of(const wire::Lives& lives);
/// Digest of a value, for comparisons.
std::uint64_t value_digest(const wire::ValueHead& head, ByteView bytes);

}  // namespace peal::order::paxos
