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

#include "sim/judge/ghost_order.h"
#include "wire/paxos.h"

namespace peal::sim {

/// What is known of some instances, which mostly follow each other. At most kMost of them.
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
  /// Calls `each(instance, what)` in order from `from` on, until that returns false.
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

/// What the acceptors of one ensemble wrote down, what of it is durable, and what they said. An
/// acceptor is a life: a log, or with votes in memory an incarnation. One whose log is lost has
/// another life, which remembers nothing, and speaks only once a list names it.
///
/// A log that was put back has forgotten what it lacks, and that is no fault of its node's. From
/// when an acceptor has told the node of something that the copy lacks, the node has to be silent.
/// Of a node that nobody told, nothing more can be asked (docs/wal.md).
///
/// Memory: of each life its records that its last checkpoint does not make up for, and kLivesMax
/// lives.
class GhostAcceptors {
 public:
  using Instance = wire::Instance;
  using Round = wire::Round;
  using Record = order::paxos::Record;
  static constexpr std::size_t kLivesMax = 256;

  struct Figures {
    std::uint64_t logs_read = 0;           ///< logs with records, at starts
    std::uint64_t logs_cut = 0;            ///< of these, those whose beginning was let go of
    std::uint64_t votes_read = 0;          ///< votes in them
    std::uint64_t votes_needed = 0;        ///< of these, for what was not consumed
    std::uint64_t older_votes_needed = 0;  ///< of these, those not in the newest segment
    std::uint64_t promises_read = 0;       ///< logs that promise a round above that of all votes
  };

  GhostAcceptors(bool on_disk, GhostOrders& orders, GhostReport report)
      : on_disk_(on_disk), orders_(orders), report_(std::move(report)) {}

  // Its log. `id` is that of the life, `last` what was read up to. `put_back`: it is an older copy.
  void opened(MemberId self, std::uint64_t id, LogPosition newest_segment, bool put_back);
  void read(NodeId node, LogPosition position, const Record& record);
  void replayed(NodeId node, LogPosition last);
  void appended(NodeId node, LogPosition position, const Record& record);
  /// What is before `keep_from` may be gone.
  void let_go(NodeId node, LogPosition keep_from);
  void durable(NodeId node, LogPosition upto);

  /// An acceptor has told this one what it heard of its log.
  void told_of_log(MemberId who, MemberId from, const wire::LogAnswer& answer);

  // What it says.
  void said_state(MemberId from, const wire::State& state);
  void said_promise(MemberId from, const wire::Promise& promise);
  void said_lives(MemberId from, const wire::Lives& lives);
  void said_checkpoint(MemberId from, const wire::Checkpoint& state);
  void said_decided(MemberId from, Instance instance, std::uint64_t value);

  const Figures& figures() const { return figures_; }

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
    Round round{};          ///< that it promises
    Instance instance = 0;  ///< of a vote
    std::uint64_t value = 0;
    Instance next = 0;        ///< of a checkpoint
    std::uint64_t taken = 0;  ///< whom it takes for those that begin an order
    std::uint64_t begun = 0;  ///< epoch of the incarnation that begins
  };
  /// What a log says.
  struct Log {
    std::uint64_t order = 0;  ///< 0: none yet
    std::uint64_t list = 0;   ///< number of the last list that it knows
    Round promised{};
    LogPosition promised_at{};  ///< the last record that says so
    Round promised_durable{};
    ByInstance<Vote> votes;     ///< the last of each instance from `next` up
    ByInstance<Noted> decided;  ///< the same
    Instance next = 0;          ///< of the last checkpoint; 0: none
    Instance next_durable = 0;
    LogPosition checkpoint_at{};
    std::uint64_t taken = 0;  ///< the last whom it takes, as the name of their order
    LogPosition taken_at{};
    std::uint64_t taken_durable = 0;
    std::uint64_t begun_durable = 0;  ///< epoch of the last incarnation that it knows of
    LogPosition durable{};
    std::deque<Pending> pending;
  };
  struct Life {
    std::uint64_t id = 0;
    NodeId node{};
    Log log;
    std::set<std::uint64_t> took;  ///< names of all orders that it ever took lives for, durably
    std::uint64_t epoch = 0;       ///< of the incarnation that has it
    /// What is there of each incarnation that wrote to it: what comes behind is in no copy.
    std::map<std::uint64_t, LogPosition> held;
    bool put_back = false;  ///< what is read is an older copy
    bool told = false;      ///< the incarnation was told so, and may say nothing of votes
    // What it said.
    Round promise_said{};
    Round voted{};
    Instance voted_upto = 0;
    // While it is read.
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
  std::deque<Life> lives_;                   ///< pointers stay valid while it grows
  std::map<NodeId, std::uint64_t> current_;  ///< the life that a node has, or had last
  std::map<NodeId, std::uint64_t> follows_;  ///< the order of which a node last spoke
  Figures figures_;
};

/// The name of the order that begins with these lives.
std::uint64_t order_of(const wire::Lives& lives);
/// Of a value, so that two of them can be compared.
std::uint64_t value_digest(const wire::ValueHead& head, ByteView bytes);

}  // namespace peal::sim
