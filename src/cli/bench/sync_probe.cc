// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sync_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/text.h"
#include "cli/bench/clock.h"

namespace peal::cli {
namespace {

constexpr std::size_t kFileBytes = 4'096;
/// Pause between two syncs. It is short enough to notice a slow disk, and long enough not to slow
/// the disk down.
constexpr int kPauseMs = 20;
/// Enough for the syncs of more than a minute.
constexpr std::size_t kSamplesMax = 4'096;

}  // namespace

Result<std::unique_ptr<SyncProbe>, std::string> SyncProbe::start(const std::string& dir) {
  const std::string path = dir + "/sync-probe";
  io::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) {
    return unexpected("cannot make the file " + quote(path) + ": " +
                      std::generic_category().message(errno));
  }
  std::unique_ptr<SyncProbe> probe(new SyncProbe(std::move(file)));
  // The probe's thread blocks all signals; the calling thread handles them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  probe->thread_ = std::thread([raw = probe.get()] { raw->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return probe;
}

SyncProbe::~SyncProbe() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void SyncProbe::run() {
  std::array<std::byte, kFileBytes> bytes{};
  while (!stopping_) {
    const std::int64_t begin = now_ns();
    {
      const std::lock_guard lock(mutex_);
      under_way_since_ns_ = begin;
    }
    bytes.fill(static_cast<std::byte>(begin));
    const bool done = ::pwrite(file_.get(), bytes.data(), bytes.size(), 0) ==
                          static_cast<ssize_t>(bytes.size()) &&
                      ::fsync(file_.get()) == 0;
    const int error = errno;
    const std::int64_t end = now_ns();
    note(begin, end, done ? std::string() : std::generic_category().message(error));
    if (!done) return;
    ::poll(nullptr, 0, kPauseMs);
  }
}

void SyncProbe::note(std::int64_t begin_ns, std::int64_t end_ns, const std::string& error) {
  const std::lock_guard lock(mutex_);
  under_way_since_ns_ = 0;
  if (!error.empty()) {
    problem_ = "the disk refuses 4 KiB: " + error;
    return;
  }
  ++count_;
  longest_ns_ = std::max(longest_ns_, end_ns - begin_ns);
  samples_.push_back({begin_ns, end_ns});
  if (samples_.size() > kSamplesMax) samples_.pop_front();
}

std::int64_t SyncProbe::longest_since(std::int64_t begin_ns) const {
  const std::lock_guard lock(mutex_);
  std::int64_t longest = under_way_since_ns_ == 0 ? 0 : now_ns() - under_way_since_ns_;
  for (auto each = samples_.rbegin(); each != samples_.rend() && each->end_ns >= begin_ns; ++each) {
    longest = std::max(longest, each->end_ns - each->begin_ns);
  }
  return longest;
}

std::int64_t SyncProbe::longest() const {
  const std::lock_guard lock(mutex_);
  const std::int64_t under_way = under_way_since_ns_ == 0 ? 0 : now_ns() - under_way_since_ns_;
  return std::max(longest_ns_, under_way);
}

std::uint64_t SyncProbe::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string SyncProbe::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace peal::cli
