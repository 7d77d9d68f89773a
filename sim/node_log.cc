// SPDX-License-Identifier: Apache-2.0
#include "sim/node_log.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/assert.h"

namespace peal::sim {
namespace {

/// Of a segment's header (docs/wal.md).
constexpr std::size_t kFirstOffset = 48;
constexpr std::uint64_t kOwedSegmentBytes = 256U << 10;
/// The least that a log may have in all: well above what an engine keeps of decided values, or it
/// could not write any more.
constexpr std::uint64_t kLogBytes = 256U << 20;
constexpr std::uint64_t kCluster = 0x5eed0001;

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

port::Log* NodeLog::open(MemberId self) {
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
  wal::Options options;
  options.owner = {kCluster + static_cast<std::uint64_t>(kind_), self.node};
  options.epoch = self.epoch;
  options.salt = random_.next();
  options.log = random_.next() | 1;
  options.segment_bytes = segment_bytes_;
  options.bytes_max = kLogBytes;
  // What a record needs in a segment besides its bytes is far less than this.
  constexpr std::uint64_t kAround = 1U << 10;
  options.record_bytes_max = std::min<std::uint64_t>(128U << 10, segment_bytes_ - kAround);
  auto opened = wal::Log::open(disk_, options, made_ ? wal::Start::existing : wal::Start::create);
  if (!opened) std::fprintf(stderr, "%s\n", opened.error().message.c_str());
  PEAL_ASSERT(opened.has_value());
  log_ = std::move(*opened);
  made_ = true;
  failed_ = false;
  node_ = self.node;
  if (witness_ == nullptr) return log_.get();
  witnessed_ = std::make_unique<WitnessedLog>(*log_, self, put_back, *witness_);
  return witnessed_.get();
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
  log_->carry_out();
  disk_.mend();
  log_->finish();
  if (witness_ != nullptr) witness_->on_log_durable(node_, log_->durable());
  failed_ = fails_ && log_->failure().has_value();
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
  fails_ = false;
  slow_ = {};
}

void NodeLog::crash() {
  if (owed_) owed_->crash();
  if (log_ == nullptr) return;
  if (under_way_ && random_.chance(0.7)) {
    // Some of what it was writing is there, and some is not.
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
