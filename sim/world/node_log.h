// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "order/inspection/inspection.h"
#include "sim/world/disk.h"
#include "sim/world/witnessed_log.h"
#include "wal/log.h"

namespace peal::sim {

/// How long disks take to write and sync.
struct DiskTimes {
  Duration low = microseconds(20);
  Duration high = microseconds(400);
  double slow = 0;  ///< share of syncs that take up to `slow_time`
  Duration slow_time = milliseconds(200);
};

/// One folder on a node's disk, and the running process's log in this folder. The folder outlives
/// the process. A crash may lose any bytes that were not reported as durable.
class NodeLog {
 public:
  enum class Kind : std::uint8_t {
    votes,  ///< an acceptor's promises and votes; `owed()` is the other folder on the disk
    owed,   ///< decided values that are retained for excluded members
  };
  /// Segments are small, so that a scenario fills many of them.
  static constexpr std::uint64_t kSegmentBytes = 1U << 20;
  static constexpr std::uint64_t kSegmentBytesLeast = 16U << 10;

  NodeLog(const DiskTimes& times, std::uint64_t seed, std::uint64_t segment_bytes = kSegmentBytes,
          Kind kind = Kind::votes);

  /// The log of kind `owed` beside this log of kind `votes`; null if this log has the kind `owed`.
  NodeLog* owed() { return owed_.get(); }

  /// Opens the log of a new incarnation, and the log `owed()`. The epoch of `self` is larger than
  /// all earlier epochs. False if a log refuses its folder's content; only damage(), give() and
  /// fill() may cause a refusal.
  bool open(MemberId self);
  /// The log of the running process.
  port::Log* log();
  /// Why open() refused the folder.
  const std::string& refusal() const { return refusal_; }
  /// The witness observes all operations of later incarnations, and must outlive this object.
  void watch(order::Ghost* witness) { witness_ = witness; }
  /// Position of the first record of the newest segment on the disk; 0 if there is no segment.
  LogPosition newest_segment() const;
  /// Starts to write the appended records. Returns the time that this takes; nullopt if there is
  /// nothing to write or a write is in progress.
  std::optional<Duration> begin();
  /// Completes the write that begin() started.
  void finish();
  /// Call when the process has crashed, perhaps during a write. Affects this log and `owed()`.
  void crash();

  /// The next incarnation finds an empty folder.
  void lose() { lost_ = true; }
  /// Copies the durable content of the folder.
  void copy();
  /// The next incarnation finds the last copy of the folder, if there is one.
  void put_back() { put_back_ = copy_.has_value(); }
  bool is_put_back() const { return put_back_; }
  /// Damage that the next incarnation finds. rot: one bit of an old record is flipped. stray: a
  /// misdirected write has overwritten some old bytes. A folder with a single segment is not
  /// damaged.
  enum class Damage : std::uint8_t { none, rot, stray };
  void damage(Damage damage) { damage_ = damage; }
  /// The next incarnation finds a copy of another folder in place of this folder: the copy has the
  /// durable content that the folder of `other` has now.
  void give(const NodeLog& other);
  /// From now on, the disk has no free space.
  void fill() { full_ = true; }
  /// The next write or sync fails, and the log of the running process fails with it.
  void fail() { fails_ = true; }
  /// Each sync takes `time`.
  void slow(Duration time) { slow_ = time; }
  /// Nothing becomes durable until end_hang(); see Disks::end_hang().
  void hang() { hangs_ = true; }
  bool hangs() const { return hangs_; }
  /// Ends the hang. True if wait_for_end() was called during the hang: then finish() is due now.
  bool end_hang();
  /// The write in progress would be complete now, but completes only when the hang ends.
  void wait_for_end() { waits_ = true; }
  /// Ends failures and slowness, here and in `owed()`. A log that has failed stays failed.
  void mend();
  /// True if the running process's log, or `owed()`, failed because of fail() or fill().
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
  order::Ghost* witness_ = nullptr;
  NodeId node_{};
  bool made_ = false;
  bool lost_ = false;
  std::optional<Disk> copy_;
  std::optional<Disk> given_;  ///< folder of another node
  Damage damage_ = Damage::none;
  bool full_ = false;
  std::string refusal_;
  bool put_back_ = false;
  bool under_way_ = false;
  bool fails_ = false, failed_ = false;
  bool hangs_ = false, waits_ = false;
  Duration slow_{};  ///< time of each sync; 0: drawn from `times_`
};

}  // namespace peal::sim
