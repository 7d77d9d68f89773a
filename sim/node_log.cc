// SPDX-License-Identifier: Apache-2.0
#include "sim/node_log.h"

#include <cstdio>
#include <utility>

#include "base/assert.h"

namespace peal::sim {
namespace {

/// Small ones, so that a story sees many.
constexpr std::uint64_t kSegmentBytes = 1U << 20;
constexpr std::uint64_t kOwedSegmentBytes = 256U << 10;
constexpr std::uint64_t kBytesMax = 256U << 20;
constexpr std::uint64_t kCluster = 0x5eed0001;

}  // namespace

NodeLog::NodeLog(const DiskTimes& times, std::uint64_t seed, Kind kind)
    : kind_(kind), times_(times), random_(seed), disk_(seed + 1) {
  constexpr std::uint64_t kOwedApart = 0x0eed'0001;
  if (kind == Kind::votes) owed_ = std::make_unique<NodeLog>(times, seed + kOwedApart, Kind::owed);
}

port::Log* NodeLog::open(MemberId self) {
  PEAL_ASSERT(log_ == nullptr);
  if (std::exchange(lost_, false)) {
    disk_ = Disk(random_.next());
    made_ = false;
  }
  if (std::exchange(put_back_, false)) {
    disk_ = *copy_;
    made_ = true;
  }
  wal::Options options;
  options.owner = {kCluster + static_cast<std::uint64_t>(kind_), self.node};
  options.epoch = self.epoch;
  options.salt = random_.next();
  options.log = random_.next() | 1;
  options.segment_bytes = kind_ == Kind::owed ? kOwedSegmentBytes : kSegmentBytes;
  // Well above what an engine keeps of decided values, or it could not write any more.
  options.bytes_max = kBytesMax;
  options.record_bytes_max = 128U << 10;
  auto opened = wal::Log::open(disk_, options, made_ ? wal::Start::existing : wal::Start::create);
  if (!opened) std::fprintf(stderr, "%s\n", opened.error().message.c_str());
  PEAL_ASSERT(opened.has_value());
  log_ = std::move(*opened);
  made_ = true;
  failed_ = false;
  return log_.get();
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
  log_.reset();
  const std::uint64_t which = random_.below(3);
  disk_.lose(which == 0   ? Disk::Loss::nothing
             : which == 1 ? Disk::Loss::unsynced
                          : Disk::Loss::some);
}

}  // namespace peal::sim
