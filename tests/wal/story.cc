// SPDX-License-Identifier: Apache-2.0
#include "story.h"

#include <algorithm>

namespace peal::wal::test {

Story::Story(std::uint64_t seed) : seed_(seed), random_(seed), disk_(seed * 31 + 7) {
  if (random_.chance(0.5)) disk_.expose_old_bytes();
}

void Story::wrong(const std::string& what) {
  if (wrong_.empty()) {
    wrong_ = "seed " + std::to_string(seed_) + ", operation " + std::to_string(disk_.operations()) +
             ": " + what;
  }
}

std::string Story::run() {
  disk_.observe([this] { on_operation(); });
  start();
  const std::uint64_t steps = 10 + random_.below(40);
  for (std::uint64_t i = 0; i < steps && wrong_.empty(); ++i) {
    if (full_) {
      // The log is full: only a commit makes space, or a restart if there is nothing to commit.
      const LogPosition before = reported_;
      commit();
      if (wrong_.empty() && reported_ == before) crash();
    }
    step();
  }
  return wrong_;
}

void Story::step() {
  const std::uint64_t draw = random_.below(100);
  if (draw < 60) {
    append();
  } else if (draw < 80) {
    commit();
  } else if (draw < 85) {
    commit_on_a_bad_disk();
  } else if (draw < 90) {
    if (!log_->close()) wrong("close failed");
    reported_ = log_->durable();
    start();
  } else {
    crash();
  }
}

void Story::append() {
  std::string bytes = std::to_string(epoch_) + "/" + std::to_string(appended_.size() + 1) + "/";
  bytes.resize(bytes.size() + random_.below(random_.chance(0.2) ? 380 : 40),
               static_cast<char>('a' + random_.below(26)));
  const LogPosition next = log_->last().next();
  LogPosition keep_from{};
  Result<LogPosition, Errc> position;
  // The record is kept here first, because each crash is compared with the kept records.
  appended_.push_back({bytes, keep_from});
  if (random_.chance(0.1)) {
    const std::uint64_t back = random_.below(std::min<std::uint64_t>(next.value, 20));
    appended_.back().keep_from = LogPosition{next.value - back};
    position = log_->checkpoint(as_bytes_view(bytes), appended_.back().keep_from);
  } else {
    position = log_->append(as_bytes_view(bytes));
  }
  if (!position) {
    appended_.pop_back();
    if (position.error() != Errc::would_block) wrong("append was refused");
    full_ = true;
    return;
  }
  ++figures_.records;
  if (*position != next || next.value != appended_.size()) wrong("a record got another position");
}

/// Commits, and appends more records during the commit.
void Story::commit() {
  full_ = false;
  const bool begun = log_->begin();
  for (std::uint64_t more = random_.below(3); begun && more > 0; --more) append();
  if (begun) log_->carry_out();
  for (std::uint64_t more = random_.below(4); begun && more > 0; --more) append();
  if (begun) log_->finish();
  if (log_->failure()) wrong("a commit failed: " + log_->failure()->message);
  reported_ = log_->durable();
}

void Story::commit_on_a_bad_disk() {
  disk_.fail(1 + random_.below(6),
             random_.chance(0.5) ? sim::Disk::Failure::error : sim::Disk::Failure::full);
  const LogPosition last = log_->last();
  const bool good = log_->commit();
  disk_.mend();
  reported_ = log_->durable();
  if (good != !log_->failure() || (good && reported_ != last)) wrong("a commit says two things");
  if (good) return;
  ++figures_.failures;
  crash();
}

/// The process or the machine crashes, and the node starts again.
void Story::crash() {
  log_.reset();
  disk_.lose(static_cast<sim::Disk::Loss>(random_.below(3)));
  start();
}

/// Each start draws another block size, so that different commits are written in whole blocks.
Options Story::options() {
  Options options = small_options(epoch_);
  options.block_bytes = kFrameBytes + random_.below(40) * kAlign;
  options.blocks_from = random_.below(1'000);
  return options;
}

void Story::start() {
  ++epoch_;
  ++figures_.restarts;
  log_.reset();
  auto opened = Log::open(disk_, options(), created_ ? Start::existing : Start::create);
  if (!opened) {
    wrong("not opened: " + opened.error().message);
    return;
  }
  log_ = std::move(*opened);
  created_ = true;
  Kept kept;
  if (const auto replayed = log_->replay(kept); !replayed) wrong(replayed.error().message);
  judge(*log_, kept, "after a start");
  if (!wrong_.empty()) return;
  // Records that were not reported durable may be lost. Later records get the positions of the lost
  // ones.
  appended_.resize(log_->last().value);
  reported_ = log_->last();
}

/// If the log ends at `last`, all records before the returned position may be gone.
LogPosition Story::let_go(LogPosition last) const {
  LogPosition keep_from{1};
  for (std::size_t i = 0; i < last.value && i < appended_.size(); ++i) {
    keep_from = std::max(keep_from, appended_[i].keep_from);
  }
  return keep_from;
}

void Story::judge(const Log& log, const Kept& kept, const char* when) {
  const LogPosition last = log.last();
  const auto say = [&](const std::string& what) { wrong(std::string(when) + ": " + what); };
  if (last < reported_) {
    say("record " + std::to_string(reported_.value) + " was reported durable, and the last is " +
        std::to_string(last.value));
  } else if (last.value > appended_.size()) {
    say("there are records that nobody appended");
  } else if (log.durable() != last) {
    say("what was read is not durable");
  } else if (log.found().first > let_go(last)) {
    say("records from " + std::to_string(let_go(last).value) + " on are needed, and the first is " +
        std::to_string(log.found().first.value));
  }
  if (!wrong_.empty()) return;
  LogPosition expected = log.found().first;
  for (const Kept::Record& record : kept.records) {
    if (record.position != expected) return say("a record has another position");
    if (record.bytes != appended_[expected.value - 1].bytes) {
      return say("record " + std::to_string(expected.value) + " is another");
    }
    expected = expected.next();
  }
  if (expected != last.next()) say("records are missing at the end");
}

void Story::on_operation() {
  if (!wrong_.empty()) return;
  sim::Disk copy = disk_;
  copy.reseed(random_.next());
  judge_crash(std::move(copy), static_cast<sim::Disk::Loss>(random_.below(3)));
}

void Story::judge_crash(sim::Disk disk, sim::Disk::Loss loss) {
  disk.mend();
  disk.lose(loss);
  ++figures_.points;
  auto opened = Log::open(disk, small_options(epoch_ + 1), Start::existing);
  if (!opened) {
    const bool not_there = opened.error().kind == Problem::Kind::no_log && !created_;
    if (!not_there) wrong("after a crash: " + opened.error().message);
    return;
  }
  Kept kept;
  if (const auto replayed = (*opened)->replay(kept); !replayed) wrong(replayed.error().message);
  judge(**opened, kept, "after a crash");
  if ((*opened)->found().tail_cut) ++figures_.torn;
  if (!wrong_.empty() || random_.chance(0.5)) return;
  // What a recovery has read is durable: a power failure does not remove it.
  ++figures_.twice;
  const Found found = (*opened)->found();
  disk.lose(sim::Disk::Loss::unsynced);
  auto again = Log::open(disk, small_options(epoch_ + 2), Start::existing);
  Kept twice;
  if (!again || !(*again)->replay(twice)) return wrong("not opened after a second crash");
  const bool same = (*again)->found().first == found.first && (*again)->last() == found.last;
  if (!same || twice.records != kept.records) wrong("a second recovery found something else");
}

}  // namespace peal::wal::test
