// SPDX-License-Identifier: Apache-2.0
#include "runtime/written_log.h"

#include <sys/epoll.h>

#include <utility>

#include "base/assert.h"

namespace peal::runtime {

Result<std::unique_ptr<WrittenLog>, io::IoError> WrittenLog::open(const std::string& folder) {
  auto disk = io::FolderDisk::open(folder);
  if (!disk) return unexpected(disk.error());
  return std::unique_ptr<WrittenLog>(new WrittenLog(std::move(*disk)));
}

WrittenLog::~WrittenLog() {
  if (loop_ != nullptr) loop_->unwatch(worker_->done_fd());
}

Result<void, wal::Problem> WrittenLog::recover(const wal::Options& options, wal::Start start) {
  auto opened = wal::Log::open(*disk_, options, start);
  if (!opened) return unexpected(std::move(opened.error()));
  log_ = std::move(*opened);
  return {};
}

Result<void, io::IoError> WrittenLog::attach(io::Loop& loop, std::function<void()> on_written) {
  auto worker = io::Worker::open();
  if (!worker) return unexpected(worker.error());
  worker_ = std::move(*worker);
  on_written_ = std::move(on_written);
  auto watched = loop.watch(worker_->done_fd(), EPOLLIN, [this](std::uint32_t) { take_written(); });
  if (!watched) return watched;
  loop_ = &loop;
  return {};
}

void WrittenLog::commit() {
  PEAL_ASSERT(worker_ != nullptr);
  if (!worker_->busy() && log_->begin()) worker_->start(*log_);
}

void WrittenLog::take_written() {
  if (!worker_->take_done()) return;
  log_->finish();
  on_written_();
}

}  // namespace peal::runtime
