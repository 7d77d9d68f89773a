// SPDX-License-Identifier: Apache-2.0
#include "sim/world/node_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal::sim {
namespace {

/// Offset of the first record's position in a segment's header (docs/wal.md).
constexpr std::size_t kFirstOffset = 48;
constexpr std::uint64_t kOwedSegmentBytes = 256U << 10;
/// Size limit of a log: well above the decided values that an engine retains, so that the engine
/// can always write.
constexpr std::uint64_t kLogBytes = 256U << 20;
constexpr std::uint64_t kLogOwner = 0x5eed0001;

}  // namespace

NodeLog::NodeLog(const DiskTimes& times, std::uint64_t seed, std::uint64_t segment_bytes, Kind kind)
    : kind_(kind), times_(times), segment_bytes_(segment_bytes), random_(seed), disk_(seed + 1) {
  constexpr std::uint64_t kOwedApart = 0x0eed'0001;
  if (kind == Kind::owed) return;
  owed_ = std::make_unique<NodeLog>(times, seed + kOwedApart, kOwedSegmentBytes, Kind::owed);
}

LogPosition NodeLog::newest_segment() const {
  LogPosition first;
  for (const std::string& name : disk_.names()) {
    if (!name.ends_with(".wal")) continue;
    const std::vector<std::byte>& bytes = disk_.bytes_of(name);
    if (bytes.size() < kFirstOffset + sizeof(first.value)) continue;
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(value); i-- > 0;) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes[kFirstOffset + i]);
    }
    first.value = std::max(first.value, value);
  }
  return first;
}

bool NodeLog::open(MemberId self) {
  if (!open_folder(self)) return false;
  if (owed_ == nullptr || owed_->open(self)) return true;
  refusal_ = owed_->refusal();
  crash();
  return false;
}

port::Log* NodeLog::log() {
  return witnessed_ != nullptr ? static_cast<port::Log*>(witnessed_.get()) : log_.get();
}

bool NodeLog::open_folder(MemberId self) {
  PEAL_ASSERT(log_ == nullptr);
  if (std::exchange(lost_, false)) {
    disk_ = Disk(random_.next());
    made_ = false;
  }
  const bool put_back = std::exchange(put_back_, false);
  if (put_back) {
    disk_ = *copy_;
    made_ = true;
  }
  const bool damaged = do_damage();
  wal::Options options;
  options.owner = {kLogOwner + static_cast<std::uint64_t>(kind_), self.node};
  options.epoch = self.epoch;
  options.salt = random_.next();
  options.log = random_.next() | 1;
  options.segment_bytes = segment_bytes_;
  options.bytes_max = kLogBytes;
  // The overhead of a record in a segment is far below this number.
  constexpr std::uint64_t kAround = 1U << 10;
  options.record_bytes_max = std::min<std::uint64_t>(128U << 10, segment_bytes_ - kAround);
  disk_.limit(full_ ? disk_.used() : UINT64_MAX);
  refusal_.clear();
  if (given_) {
    Disk given = *std::exchange(given_, {});
    auto opened = wal::Log::open(given, options, wal::Start::existing);
    PEAL_ASSERT(!opened.has_value() && "the folder of another node is refused");
    // The next start uses the node's own folder, as if an operator had moved the folder back.
    return refused(opened.error().message);
  }
  auto opened = wal::Log::open(disk_, options, made_ ? wal::Start::existing : wal::Start::create);
  if (!opened) {
    PEAL_ASSERT((damaged || full_) && "what a crash leaves can always be opened");
    if (damaged) lose();  // apply the remedy that the message names
    return refused(opened.error().message);
  }
  log_ = std::move(*opened);
  made_ = true;
  failed_ = false;
  node_ = self.node;
  if (witness_ == nullptr) return true;
  witnessed_ = std::make_unique<WitnessedLog>(*log_, self, put_back, *witness_);
  return true;
}

bool NodeLog::refused(const std::string& why) {
  refusal_ = why;
  return false;
}

void NodeLog::give(const NodeLog& other) {
  if (!made_ || !other.made_) return;
  given_ = other.disk_;
  given_->lose(Disk::Loss::unsynced);
}

// Damages only segments before the newest segment. At a log's end, the log cannot always
// distinguish lost records from records that were never written (docs/wal.md).
bool NodeLog::do_damage() {
  const Damage damage = std::exchange(damage_, Damage::none);
  if (damage == Damage::none) return false;
  std::vector<std::string> names;
  for (const std::string& name : disk_.names()) {
    if (name.ends_with(".wal")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() < 2) return false;
  const std::string& name = names[random_.below(names.size() - 1)];
  const std::vector<std::byte> bytes = disk_.bytes_of(name);
  if (bytes.empty()) return false;
  const std::uint64_t at = random_.below(bytes.size());
  if (damage == Damage::rot) {
    disk_.flip(name, at, std::byte{static_cast<unsigned char>(1U << random_.below(8))});
    return true;
  }
  constexpr std::uint64_t kStrayMost = 8192;
  std::vector<std::byte> after = bytes;
  const std::uint64_t from = random_.below(bytes.size());
  const std::uint64_t most = bytes.size() - std::max(at, from);
  const std::uint64_t count = 1 + random_.below(std::min(most, kStrayMost));
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), count,
              after.begin() + static_cast<std::ptrdiff_t>(at));
  disk_.put(name, std::move(after));
  return true;
}

std::optional<Duration> NodeLog::begin() {
  if (log_ == nullptr || under_way_ || !log_->begin()) return std::nullopt;
  under_way_ = true;
  if (slow_.ns > 0) return slow_;
  if (random_.chance(times_.slow)) {
    return Duration{random_.between(times_.high.ns, times_.slow_time.ns)};
  }
  return Duration{random_.between(times_.low.ns, times_.high.ns)};
}

void NodeLog::finish() {
  PEAL_ASSERT(under_way_);
  under_way_ = false;
  if (fails_) disk_.fail(1 + random_.below(2), Disk::Failure::error);
  disk_.limit(full_ ? disk_.used() : UINT64_MAX);
  log_->carry_out();
  disk_.mend();
  log_->finish();
  if (witness_ != nullptr) witness_->on_log_durable(node_, log_->durable());
  failed_ = (fails_ || full_) && log_->failure().has_value();
  if (failed_) fails_ = false;
}

bool NodeLog::end_hang() {
  hangs_ = false;
  return std::exchange(waits_, false);
}

void NodeLog::copy() {
  if (!made_) return;
  copy_ = disk_;
  copy_->lose(Disk::Loss::unsynced);
}

void NodeLog::mend() {
  if (owed_) owed_->mend();
  fails_ = full_ = false;
  slow_ = {};
}

void NodeLog::crash() {
  if (owed_) owed_->crash();
  if (log_ == nullptr) return;
  if (under_way_ && random_.chance(0.7)) {
    // Only a part of the write in progress reached the disk.
    disk_.fail(1 + random_.below(4), Disk::Failure::error);
    log_->carry_out();
    disk_.mend();
  }
  under_way_ = waits_ = false;
  witnessed_.reset();
  log_.reset();
  const std::uint64_t which = random_.below(3);
  disk_.lose(which == 0   ? Disk::Loss::nothing
             : which == 1 ? Disk::Loss::unsynced
                          : Disk::Loss::some);
}

}  // namespace peal::sim
