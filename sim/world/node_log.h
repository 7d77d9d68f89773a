// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "sim/judge/log_witness.h"
#include "sim/world/disk.h"
#include "wal/log.h"

namespace peal::sim {

/// How long disks take to write and sync what a node gave them.
struct DiskTimes {
  Duration low = microseconds(20);
  Duration high = microseconds(400);
  double slow = 0;  ///< share of syncs that take up to `slow_time`
  Duration slow_time = milliseconds(200);
};

/// One folder on the disk of a node, which outlives its processes, and the durable log that the
/// running one has in it. When a process crashes, whatever was not reported as durable may be lost,
/// in any part.
class NodeLog {
 public:
  enum class Kind : std::uint8_t {
    votes,  ///< an acceptor's, with `owed()` beside it on the same disk
    owed,   ///< of what excluded members are owed
  };
  /// Small ones, so that a story sees many.
  static constexpr std::uint64_t kSegmentBytes = 1U << 20;
  static constexpr std::uint64_t kSegmentBytesLeast = 16U << 10;

  NodeLog(const DiskTimes& times, std::uint64_t seed, std::uint64_t segment_bytes = kSegmentBytes,
          Kind kind = Kind::votes);

  /// Null if this is one.
  NodeLog* owed() { return owed_.get(); }

  /// Opens the log of a new incarnation, and what is owed beside it; its epoch is larger than those
  /// before. False: what is in the folder is refused, which only damage() and give() may lead to.
  bool open(MemberId self);
  /// That of the running process.
  port::Log* log();
  /// Why it was refused.
  const std::string& refusal() const { return refusal_; }
  /// Is told of everything from the next incarnation on; outlives this.
  void watch(LogWitness* witness) { witness_ = witness; }
  /// Of the newest segment on the disk, the position of its first record; 0: there is none.
  LogPosition newest_segment() const;
  /// Begins to write what was appended. How long that takes, or nothing if there is nothing to be
  /// written, or it is being done.
  std::optional<Duration> begin();
  /// It is done.
  void finish();
  /// The process is gone, perhaps in the middle of it; here and in `owed()`.
  void crash();

  /// With the next incarnation its folder is empty.
  void lose() { lost_ = true; }
  /// A copy of the folder as it is on disk now.
  void copy();
  /// With the next incarnation its folder holds what was copied last, if anything was.
  void put_back() { put_back_ = copy_.has_value(); }
  bool is_put_back() const { return put_back_; }
  /// Rot: one bit of what was written long ago is another with the next incarnation. A stray write:
  /// some of it is what should have gone elsewhere. Nothing happens if all was written lately.
  enum class Damage : std::uint8_t { none, rot, stray };
  void damage(Damage damage) { damage_ = damage; }
  /// The next incarnation finds the folder of another node, as it is now, in the place of its own.
  void give(const NodeLog& other);
  /// There is no room on the disk beyond what files have now.
  void fill() { full_ = true; }
  /// The next write or sync fails, and with it the log of the running process.
  void fail() { fails_ = true; }
  /// Each sync takes so long.
  void slow(Duration time) { slow_ = time; }
  /// Nothing becomes durable until the hang ends; see World::end_hang().
  void hang() { hangs_ = true; }
  bool hangs() const { return hangs_; }
  /// True if a write was done meanwhile, and has only not been told.
  bool end_hang();
  /// What was being written is done as soon as the hang ends.
  void wait_for_end() { waits_ = true; }
  /// Ends failures and slowness, here and in `owed()`; what has failed has.
  void mend();
  /// Did the running process's log, or `owed()`, fail as it was told to?
  bool failed() const { return failed_ || (owed_ && owed_->failed()); }

 private:
  bool open_folder(MemberId self);
  bool refused(const std::string& why);
  bool do_damage();

  const Kind kind_;
  std::unique_ptr<NodeLog> owed_;
  DiskTimes times_;
  std::uint64_t segment_bytes_;
  Random random_;
  Disk disk_;
  std::unique_ptr<wal::Log> log_;
  std::unique_ptr<WitnessedLog> witnessed_;
  LogWitness* witness_ = nullptr;
  NodeId node_{};
  bool made_ = false;
  bool lost_ = false;
  std::optional<Disk> copy_;
  std::optional<Disk> given_;  ///< another node's
  Damage damage_ = Damage::none;
  bool full_ = false;
  std::string refusal_;
  bool put_back_ = false;
  bool under_way_ = false;
  bool fails_ = false, failed_ = false;
  bool hangs_ = false, waits_ = false;
  Duration slow_{};  ///< 0: as `times_` say
};

}  // namespace peal::sim
