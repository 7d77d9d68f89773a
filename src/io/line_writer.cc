// SPDX-License-Identifier: Apache-2.0
#include "io/line_writer.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace peal::io {
namespace {

constexpr Duration kLastLines = milliseconds(500);

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Waits until all of `text` is written. False if a write fails, for example without a reader or on
/// a full disk.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {  // another holder made the shared descriptor non-blocking
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct LineWriter::Shared {
  struct Entry {
    std::string text;
    std::uint64_t dropped_before = 0;  ///< lines dropped between the previous entry and this one
  };

  Shared(int descriptor, Dropped line) : fd(descriptor), dropped_line(std::move(line)) {}

  static void* run(void* raw);
  void work();
  void put(const Entry& entry);
  bool tell();

  const int fd;
  const Dropped dropped_line;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Entry> queue;
  std::size_t queued_bytes = 0;
  std::uint64_t dropped_behind = 0;  ///< lines dropped after the newest entry
  std::uint64_t dropped = 0;         ///< lines dropped in all
  bool writing = false;
  bool over = false;

  std::uint64_t untold = 0;  ///< used by the writing thread: dropped lines not reported yet
};

void* LineWriter::Shared::run(void* raw) {
  const std::unique_ptr<std::shared_ptr<Shared>> holder(static_cast<std::shared_ptr<Shared>*>(raw));
  (*holder)->work();
  return nullptr;
}

void LineWriter::Shared::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return over || !queue.empty() || dropped_behind > 0; });
    if (queue.empty() && dropped_behind == 0) return;
    Entry entry;
    if (queue.empty()) {
      entry.dropped_before = std::exchange(dropped_behind, 0);
    } else {
      entry = std::move(queue.front());
      queue.pop_front();
      queued_bytes -= entry.text.size();
    }
    writing = true;
    lock.unlock();
    put(entry);
    lock.lock();
    writing = false;
    changed.notify_all();
  }
}

void LineWriter::Shared::put(const Entry& entry) {
  untold += entry.dropped_before;
  if (tell() && write_all(fd, entry.text)) return;
  const std::uint64_t lines = count_lines(entry.text);
  untold += lines;
  const std::lock_guard lock(mutex);
  dropped += lines;
}

/// Reports dropped lines, if any; false if the write fails.
bool LineWriter::Shared::tell() {
  if (untold == 0) return true;
  if (!write_all(fd, dropped_line(untold))) return false;
  untold = 0;
  return true;
}

Result<std::unique_ptr<LineWriter>, IoError> LineWriter::open(int fd, Dropped dropped) {
  auto shared = std::make_shared<Shared>(fd, std::move(dropped));
  auto holder = std::make_unique<std::shared_ptr<Shared>>(shared);
  // The thread blocks all signals, so that other threads handle them. With SIGPIPE blocked, a write
  // without a reader just returns an error.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int failed = ::pthread_create(&thread, nullptr, Shared::run, holder.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return unexpected(system_error("start a thread for the log", failed));
  ignore(holder.release(), "the thread owns it now");
  ::pthread_detach(thread);
  return std::unique_ptr<LineWriter>(new LineWriter(std::move(shared)));
}

LineWriter::~LineWriter() {
  drain(kLastLines);
  const std::lock_guard lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
}

void LineWriter::write(std::string text) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->queued_bytes + text.size() > kBytesMax) {
    const std::uint64_t lines = count_lines(text);
    shared_->dropped += lines;
    shared_->dropped_behind += lines;
    return;
  }
  shared_->queued_bytes += text.size();
  shared_->queue.push_back({std::move(text), std::exchange(shared_->dropped_behind, 0)});
  shared_->changed.notify_all();
}

bool LineWriter::drain(Duration patience) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, std::chrono::nanoseconds(patience.ns), [this] {
    return shared_->queue.empty() && shared_->dropped_behind == 0 && !shared_->writing;
  });
}

std::uint64_t LineWriter::dropped() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->dropped;
}

}  // namespace peal::io
