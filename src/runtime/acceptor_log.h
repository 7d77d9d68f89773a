// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.h"
#include "io/error.h"
#include "io/folder_disk.h"
#include "io/loop.h"
#include "port/log.h"
#include "runtime/written_log.h"

namespace peal::runtime {

/// The durable state of an acceptor, in a folder of its own under Settings::data_dir: the log of
/// its promises and votes, another log for values that are retained for excluded members, and a
/// file that identifies the owner. Each log has a thread that writes and syncs it, so that the loop
/// never waits for the disk. Thread: the loop's.
///
///     DATA_DIR/NAME/log/       segments (docs/wal.md)
///     DATA_DIR/NAME/owed/      segments of retained values; created anew if they are missing
///     DATA_DIR/NAME/identity   the cluster, the node and the ensembles or domains of the log
///     DATA_DIR/NAME/epoch      the last incarnation's epoch; absent if a state file stores it
///
/// The first start creates these files in this order, and makes each durable before it creates the
/// next. So the first start may be interrupted anywhere and repeated. If the identity or the epoch
/// exists without the log, the log was lost.
class AcceptorLog {
 public:
  /// Opens and locks the node's folder, creating it if needed, and checks its owner. Errors:
  /// invalid_option (the folder is another node's, or cannot be used), address_in_use (another
  /// process has the folder), not_permitted, system. Blocks on the disk, as recover() does.
  static Result<std::unique_ptr<AcceptorLog>, io::IoError> open(const config::Settings& settings);
  AcceptorLog(const AcceptorLog&) = delete;
  AcceptorLog& operator=(const AcceptorLog&) = delete;

  /// The file that stores the node's epoch.
  const std::string& state_file() const { return state_file_; }
  /// Reads the log, or creates it if this node never had one. Call it once, before anything else.
  /// Errors: invalid_option (damaged, lost, of another node, or of a later incarnation), system.
  Result<void, io::IoError> recover(std::uint64_t epoch);
  /// True if the log was created by this start, or by an earlier start that was interrupted.
  bool is_new() const { return !has_identity_; }
  /// The folder of the segments.
  std::string folder() const { return votes_->disk().path_of(""); }
  port::Log& log() { return votes_->log(); }
  /// The log of the values that are retained for excluded members.
  port::Log& owed() { return owed_->log(); }

  /// Calls `on_written` in `loop`, which must outlive this object, whenever more records are
  /// durable or a log failed.
  Result<void, io::IoError> attach(io::Loop& loop, std::function<void()> on_written);
  /// Begins to write the records appended to each log. A log is left out while a write to it is in
  /// progress: call commit() again after `on_written` (see attach()).
  void commit();
  const std::optional<port::LogFailure>& failure() const {
    return votes_->failure() ? votes_->failure() : owed_->failure();
  }

 private:
  explicit AcceptorLog(const config::Settings& settings);
  Result<void, io::IoError> prepare(const config::Settings& settings);
  Result<void, io::IoError> check_identity(const config::Settings& settings);
  Result<void, io::IoError> check_new();
  Result<void, io::IoError> write_identity();
  Result<void, io::IoError> recover(WrittenLog& log, const wal::Options& options, bool may_create);

  std::string identity_;  ///< the expected contents of the identity file
  wal::Identity owner_;
  std::string state_file_;
  std::unique_ptr<io::FolderDisk> folder_;
  std::unique_ptr<WrittenLog> votes_;
  std::unique_ptr<WrittenLog> owed_;
  bool has_identity_ = false;
  bool has_epoch_ = false;  ///< the folder has an epoch file
};

}  // namespace peal::runtime
