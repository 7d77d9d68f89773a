// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/acceptor.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

/// Reads the records of a log, in order. The last record of an instance counts: a vote in a higher
/// round replaces earlier votes, and a decided value replaces all votes. A checkpoint shows which
/// instances were consumed before it. No later record has a vote or a decided value for such an
/// instance. So values move into the store's history at each checkpoint, and this object holds only
/// the records between two checkpoints.
class Acceptor::Replay final : public port::LogReader {
 public:
  struct Read {
    Round round{};  ///< round of the vote; no round: the value is decided
    wire::ValueHead head;
    std::vector<std::byte> bytes;
  };
  using Values = std::map<Instance, Read>;

  Replay(Acceptor& acceptor, Store& store, KeptWords& kept)
      : acceptor_(acceptor), store_(store), kept_(kept) {
    store_.begin(1);
  }

  void on_record(LogPosition position, ByteView bytes) override {
    if (acceptor_.marks_.empty()) acceptor_.marks_.push_back({0, position});
    Record record;
    fine = fine && read_record(bytes, record);
    if (!fine) return;
    acceptor_.promised_ = std::max(acceptor_.promised_, record.round);
    if (record.kind == Record::Kind::started) {
      acceptor_.add_start({record.epoch, position});
      return;
    }
    if (record.kind == Record::Kind::put_back) {
      acceptor_.put_back_ = true;
      return;
    }
    if (record.kind == Record::Kind::taken) {
      acceptor_.taken_ = std::move(record.lives);
      acceptor_.taken_heard_ = std::move(record.heard);
      acceptor_.taken_at_ = position;
      return;
    }
    if (record.kind == Record::Kind::kept) {
      keep(again_, record);
      return;
    }
    if (record.kind == Record::Kind::checkpoint) {
      keep_ranges(record.kept);
      acceptor_.starts_ = std::move(record.starts);
      fine = consume(std::max<Instance>(record.state.next, 1), record.instance);
      state = OrderState(std::move(record.state));
      return;
    }
    acceptor_.top_ = std::max(acceptor_.top_, record.instance);
    if (record.instance < store_.next()) return;  // decided already
    if (record.kind == Record::Kind::vote) keep(votes, record);
    if (record.kind == Record::Kind::decided) keep(decided, record);
  }

  bool fine = true;
  std::optional<OrderState> state;
  Values votes;    ///< votes for instances from the last checkpoint on
  Values decided;  ///< decided values for the same instances

 private:
  static void keep(Values& in, const Record& record) {
    Read& read = in[record.instance];
    read.round = record.round;
    read.head = record.head;
    read.bytes.assign(record.bytes.begin(), record.bytes.end());
  }

  // Drops the ranges that the checkpoint no longer names. A range that it names was written after
  // the previous checkpoint (`again`), or was put into kept_ earlier. If kept_ no longer has the
  // range, it was dropped because of its size, and is skipped here too.
  void keep_ranges(const std::vector<Record::Range>& ranges) {
    std::deque<KeptWords::Range> before;
    before.swap(kept_.ranges());
    for (const Record::Range& range : ranges) {
      const auto same = std::find_if(before.begin(), before.end(), [&](const auto& each) {
        return each.first == range.first && each.end == range.end;
      });
      if (range.again) {
        kept_.keep(read_range(range));
      } else if (same != before.end()) {
        kept_.keep(std::move(*same));
      }
    }
    again_.clear();
  }

  KeptWords::Range read_range(const Record::Range& from) const {
    KeptWords::Range range;
    range.first = from.first;
    range.end = from.end;
    range.at = acceptor_.marks_.front().at;
    range.named = true;
    for (auto at = again_.lower_bound(from.first); at != again_.end(); ++at) {
      const auto& [instance, read] = *at;
      if (instance >= from.end) break;
      // No node writes a range above these limits, so such a range is skipped.
      const std::uint64_t most = kept_.bytes_max() / sizeof(KeptWords::Kept);
      if (instance - from.first >= most || range.memory() > kept_.bytes_max()) return {};
      range.add(instance, {read.round, read.round.count == 0, read.head, read.bytes});
    }
    range.written = range.words.size();
    return range;
  }

  const Read* find(Instance instance) const {
    for (const Values* each : {&decided, &votes}) {
      if (const auto found = each->find(instance); found != each->end()) return &found->second;
    }
    return nullptr;
  }

  /// All instances below `next` were consumed, so the last record of each holds the decided value.
  /// Instances below `oldest` are the exception: this node skipped them, and its votes for them may
  /// be for values that were not decided. False: an earlier checkpoint was at a higher instance.
  bool consume(Instance next, Instance oldest) {
    if (next < store_.next()) return false;
    Instance from = next;
    const Instance floor = std::max({store_.next(), oldest, Instance{1}});
    while (from > floor && find(from - 1) != nullptr) --from;
    if (from != store_.next()) store_.begin(from);
    for (Instance instance = from; instance < next; ++instance) {
      const Read& read = *find(instance);
      store_.add_past(read.head, read.bytes);
    }
    store_.forget_below(oldest);
    for (Values* each : {&votes, &decided}) each->erase(each->begin(), each->lower_bound(next));
    return true;
  }

  Acceptor& acceptor_;
  Store& store_;
  KeptWords& kept_;
  /// Votes and values of skipped instances, from `kept` records after the last checkpoint.
  Values again_;
};

bool Acceptor::replay(BufferPool& pool, Store& store, KeptWords& kept, OrderState& state) {
  Replay log(*this, store, kept);
  if (!log_.replay(log) || !log.fine) return false;
  if (marks_.empty()) marks_.push_back({0, log_.last().next()});
  // Each order begins with a checkpoint in the log, so a log without a checkpoint has no votes and
  // no promises.
  if (log.state) state = *log.state;
  knows_order_ = log.state.has_value();
  if (!log.state && (top_ != 0 || promised_.count != 0)) return false;
  base_ = std::max<Instance>(state.next(), 1);
  if (base_ > store.next()) store.begin(base_);
  const auto value_of = [&pool](const Replay::Read& read) -> std::optional<Value> {
    Value value{read.head, {}};
    if (read.bytes.empty()) return value;
    const std::size_t size = read.bytes.size();
    if (wire::kDataHeaderBytes + size > pool.slab_bytes()) return std::nullopt;
    value.bytes = pool.take(wire::kDataHeaderBytes, static_cast<std::uint32_t>(size));
    if (!value.bytes) return std::nullopt;
    std::memcpy(value.bytes.data(), read.bytes.data(), size);
    return value;
  };
  for (const Replay::Values* each : {&log.votes, &log.decided}) {
    for (auto at = each->lower_bound(base_); at != each->end(); ++at) {
      Slot* slot = store.make(at->first);
      const std::optional<Value> value = value_of(at->second);
      if (slot == nullptr || !value) return false;
      const bool vote = at->second.round.count != 0;
      slot->decided = !vote;
      if (vote) slot->vote_round = at->second.round;
      (vote ? slot->vote : slot->heard) = *value;
    }
  }
  return true;
}

Result<LogPosition, Errc> Acceptor::write(const Record& record) {
  write_record_head(record, scratch_);
  const auto position = log_.append(scratch_, record.bytes);
  if (position) top_ = std::max(top_, record.instance);
  return position;
}

bool Acceptor::prepare(const Round& round) {
  if (round < promised_ || mute()) return false;
  if (round == promised_ && promise_written_ && promised_at_.value != 0) return true;
  promised_ = round;
  Record record;
  record.kind = Record::Kind::promise;
  record.round = round;
  const auto position = write(record);
  // If the log does not take the record, this node does not answer, and the coordinator asks again.
  promise_written_ = position.has_value();
  if (position) promised_at_ = *position;
  return true;
}

bool Acceptor::is_promised(const Round& round) const {
  if (round != promised_ || mute() || !promise_written_ || promised_at_.value == 0) return false;
  return promised_at_ <= log_.durable() || PEAL_MUTANT(px_promise_before_disk);
}

bool Acceptor::promise_under_way() const {
  return promise_written_ && !mute() && log_.durable() < promised_at_;
}

bool Acceptor::accept(const Round& round, Instance floor) {
  if ((round < promised_ && !PEAL_MUTANT(px_old_round_accepted)) || mute()) return false;
  if (round != round_) {
    if (round > promised_ && !PEAL_MUTANT(px_vote_without_promise)) {
      promised_ = round;
      // Votes in this round record the promise too. is_promised() stays false until prepare() has
      // written a record of the promise itself.
      promise_written_ = false;
    }
    round_ = round;
    pending_.clear();
    vote_next_ = floor;
  }
  vote_next_ = std::max(vote_next_, floor);
  return true;
}

void Acceptor::add_start(const Record::Start& start) {
  if (starts_.size() >= Record::kStartsMax) starts_.erase(starts_.begin());
  starts_.push_back(start);
}

bool Acceptor::start(std::uint64_t epoch) {
  if (PEAL_MUTANT(px_start_not_logged)) return true;
  Record record;
  record.kind = Record::Kind::started;
  record.epoch = epoch;
  const auto position = write(record);
  if (!position) return false;
  started_at_ = *position;
  add_start({epoch, begins_});
  return true;
}

bool Acceptor::start(std::uint64_t epoch, const OrderState& state, Instance oldest,
                     KeptWords& kept) {
  add_start({epoch, begins_});
  if (!checkpoint(state, oldest, kept)) return false;
  started_at_ = log_.last();
  return true;
}

// If the log does not take the record, the next incarnation asks the other acceptors again.
void Acceptor::put_back() {
  Record record;
  record.kind = Record::Kind::put_back;
  put_back_ = true;
  ignore(write(record), "what others heard is asked for at each start");
}

bool Acceptor::take(const wire::Lives& lives, const std::vector<MemberId>& heard) {
  if (mute()) return false;
  Record record;
  record.kind = Record::Kind::taken;
  record.lives = lives;
  record.heard = heard;
  const auto position = write(record);
  if (position) taken_at_ = *position;
  return position.has_value();
}

std::uint32_t Acceptor::vote(Store& store) {
  blocked_ = false;
  if (round_.count == 0 || mute()) return 0;
  if (round_ < promised_ && !PEAL_MUTANT(px_old_round_accepted)) return 0;
  // Consumed instances are decided, and need no vote.
  vote_next_ = std::max(vote_next_, store.next());
  std::uint32_t votes = 0;
  for (Slot* slot = store.find(vote_next_); slot != nullptr; slot = store.find(vote_next_)) {
    if (slot->heard_round != round_ || vote_next_ - base_ >= store.ahead_max()) break;
    PEAL_ASSERT(slot->vote_round <= round_);
    Record record;
    record.kind = Record::Kind::vote;
    record.round = round_;
    record.instance = vote_next_;
    record.head = slot->heard.head;
    record.bytes = slot->heard.bytes.view();
    const auto position = write(record);
    if (!position) {
      blocked_ = true;
      break;
    }
    slot->vote_round = round_;
    slot->vote = slot->heard;
    pending_.push_back({vote_next_, *position});
    ++vote_next_;
    ++votes;
  }
  return votes;
}

Instance Acceptor::voted_upto() const {
  if (round_.count == 0) return 0;
  if (PEAL_MUTANT(px_vote_before_disk)) return vote_next_ - 1;
  return (pending_.empty() ? vote_next_ : pending_.front().instance) - 1;
}

bool Acceptor::on_durable() {
  const std::size_t before = pending_.size();
  while (!pending_.empty() && pending_.front().position <= log_.durable()) pending_.pop_front();
  return pending_.size() != before;
}

bool Acceptor::note_decided(Instance instance, const wire::ValueHead& head, ByteView bytes) {
  // A crash before the first checkpoint could leave a log with this record but no checkpoint, and
  // such a log is invalid.
  if (mute() || !(knows_order_ || PEAL_MUTANT(px_noted_before_order))) return false;
  Record record;
  record.kind = Record::Kind::decided;
  record.instance = instance;
  record.head = head;
  record.bytes = bytes;
  blocked_ = !write(record);
  return !blocked_;
}

/// Writes `kept` records of the range. False: the log refused a record. The next call continues
/// with that record.
bool Acceptor::write_words(KeptWords::Range& range) {
  if (range.written == 0) range.at = log_.last().next();
  Record record;
  record.kind = Record::Kind::kept;
  for (; range.written < range.words.size(); ++range.written) {
    record.instance = range.first + range.written;
    const KeptWords::Word word = range.word(record.instance);
    if (word.says_nothing()) continue;
    record.round = word.round;
    record.head = word.head;
    record.bytes = word.bytes;
    write_record_head(record, scratch_);
    if (!log_.append(scratch_, record.bytes)) return false;
  }
  return true;
}

// A range of skipped instances is written when a checkpoint first names it, and again before the
// log drops the range's records. If the log does not take the range even though all records in the
// log are durable, the range is dropped: otherwise no checkpoint could be written, and the log
// would never have space.
bool Acceptor::write_kept(Record& checkpoint, KeptWords& kept) {
  std::deque<KeptWords::Range>& ranges = kept.ranges();
  for (auto range = ranges.begin(); range != ranges.end();) {
    if (range->named && range->at < marks_.front().at) {
      range->named = false;
      range->written = 0;
    }
    if (!range->named && !write_words(*range)) {
      if (log_.durable() < log_.last()) return false;
      range = ranges.erase(range);
      continue;
    }
    checkpoint.kept.push_back({range->first, range->end, !range->named});
    ++range;
  }
  return true;
}

bool Acceptor::checkpoint(const OrderState& state, Instance oldest, KeptWords& kept) {
  if (mute()) return false;
  while (marks_.size() > 1 && marks_[1].top < oldest) marks_.pop_front();
  Record record;
  record.kind = Record::Kind::checkpoint;
  if (!PEAL_MUTANT(px_checkpoint_without_promise)) record.round = promised_;
  record.instance = oldest;
  record.state = state.checkpoint();
  record.starts = starts_;
  if (!write_kept(record, kept)) return false;
  write_record(record, scratch_);
  if (!log_.checkpoint(scratch_, marks_.front().at)) return false;
  knows_order_ = true;
  for (KeptWords::Range& range : kept.ranges()) range.named = true;
  marks_.push_back({top_, log_.last().next()});
  base_ = state.next();
  return true;
}

void Acceptor::check_invariants() const {
  PEAL_ASSERT(pending_.empty() || pending_.back().instance < vote_next_);
  PEAL_ASSERT(round_ <= promised_ || PEAL_MUTANT(px_vote_without_promise));
}

// Of a position in the log, the digest contains only whether the position is durable. So states
// that differ only in such positions have equal digests.
void Acceptor::add_to(Digest& digest) const {
  for (const Round& round : {promised_, round_}) paxos::add_to(digest, round);
  digest.add(promise_written_ ? 1 : 0);
  digest.add(promised_at_.value == 0 ? 0 : promised_at_ <= log_.durable() ? 1 : 2);
  digest.add(vote_next_);
  digest.add(base_);
  digest.add((blocked_ ? 1U : 0U) + (knows_order_ ? 2U : 0U));
  digest.add(pending_.size());
  for (const Pending& pending : pending_) {
    digest.add(pending.instance);
    digest.add(pending.position <= log_.durable() ? 1 : 0);
  }
}

}  // namespace peal::order::paxos
