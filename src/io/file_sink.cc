// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/clock.h"

namespace peal::io {
namespace {

/// Pause after a failed write. An attempt during the pause would probably fail too, at the same
/// cost.
constexpr Duration kAgain = milliseconds(100);
/// Bytes to cut off a file in addition to the length of the new line, so that the file system gets
/// a block back.
constexpr std::size_t kBlockBytes = 4'096;
/// Number of bytes at the end of the file in which to search for line ends. Every line is shorter
/// than half of this.
constexpr std::size_t kLinesBytes = 1U << 17;

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

bool is_fifo(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

/// Opens a file for writing, and also for reading if that is permitted. A pipe must permit both. So
/// a pipe can be opened without a reader, and a pipe whose reader has ended fills up as if the
/// reader had stopped. The descriptor has its own open file description, so other processes that
/// share the file cannot make the descriptor blocking.
int open_file(const std::string& path, int flags) {
  constexpr int kAlways = O_CLOEXEC | O_NONBLOCK | O_APPEND | O_CREAT;
  int fd = ::open(path.c_str(), O_RDWR | kAlways | flags, 0644);
  if (fd < 0 && !is_fifo(path)) fd = ::open(path.c_str(), O_WRONLY | kAlways | flags, 0644);
  return fd;
}

Fd open_output(const std::string& path, int flags) {
  if (path != "-") return Fd(open_file(path, flags));
  Fd fd(open_file("/proc/self/fd/1", 0));
  if (!fd) fd = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));  // standard output is a socket
  return fd;
}

}  // namespace

Result<std::unique_ptr<FileSink>, IoError> FileSink::open(const std::string& path, Mode mode,
                                                          Lost lost, std::size_t buffer_bytes) {
  Fd fd = open_output(path, mode == Mode::append ? 0 : O_TRUNC);
  if (!fd) return unexpected(system_error("cannot open " + path, errno));
  return std::unique_ptr<FileSink>(
      new FileSink(std::move(fd), path, std::move(lost), buffer_bytes));
}

FileSink::FileSink(Fd fd, std::string path, Lost lost, std::size_t buffer_bytes)
    : fd_(std::move(fd)),
      path_(std::move(path)),
      lost_(std::move(lost)),
      buffer_bytes_(buffer_bytes) {
  buffer_.reserve(buffer_bytes);
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return;
  regular_ = S_ISREG(status.st_mode);
  socket_ = S_ISSOCK(status.st_mode);
}

FileSink::~FileSink() {
  again_.reset();
  ignore(flush(), "a destructor has nobody to tell");
  if (untold_ > 0) resume();
}

void FileSink::append(std::string_view text) {
  if (text.size() > buffer_bytes_ - buffer_.size()) {
    write_out(buffer_);
    buffer_.clear();
  }
  if (text.size() > buffer_bytes_) {
    write_out(text);
  } else {
    buffer_.append(text);
  }
}

Result<void, IoError> FileSink::flush() {
  write_out(buffer_);
  buffer_.clear();
  if (untold_ > 0) return unexpected(*error_);
  return {};
}

void FileSink::write_out(std::string_view text) {
  if (text.empty()) return;
  if (!resume()) return lose(text);
  const std::size_t done = put(text);
  if (done < text.size()) give_up(text, done, errno);
}

/// Writes the rest of a begun line and the report of lost lines; false if that is not possible yet.
bool FileSink::resume() {
  if (again_) {
    const Instant now = Clock::now();
    if (now < *again_) return false;
    again_.reset();
  }
  if (rest_.empty() && untold_ > 0) {
    rest_ = lost_(untold_);
    const std::size_t done = put(rest_);
    if (done == 0) {
      rest_.clear();
      again_ = Clock::now() + kAgain;
      return false;
    }
    untold_ = 0;
    rest_.erase(0, done);
  }
  if (rest_.empty()) return true;
  rest_.erase(0, put(rest_));
  if (!rest_.empty()) again_ = Clock::now() + kAgain;
  return rest_.empty();
}

/// Writes `text` and returns the number of bytes written; if fewer than all, errno says why.
std::size_t FileSink::put(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const std::string_view left = text.substr(done);
    const ssize_t bytes =
        socket_ ? ::send(fd_.get(), left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                : ::write(fd_.get(), left.data(), left.size());
    if (bytes > 0) done += static_cast<std::size_t>(bytes);
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) break;
  }
  return done;
}

/// Drops all of `text` except the first `done` bytes, which were written. Cuts an incomplete line
/// off the file; if that fails, the line is completed later.
void FileSink::give_up(std::string_view text, std::size_t done, int number) {
  error_ = system_error("cannot write to " + path_, number);
  again_ = Clock::now() + kAgain;
  const std::size_t line = done == 0 ? 0 : text.rfind('\n', done - 1) + 1;  // npos + 1 is 0
  if (line < done) {
    struct stat status {};
    const auto begun = static_cast<off_t>(done - line);
    if (regular_ && ::fstat(fd_.get(), &status) == 0 && status.st_size >= begun &&
        ::ftruncate(fd_.get(), status.st_size - begun) == 0) {
      done = line;
    } else {
      const std::size_t end = std::min(text.find('\n', done), text.size() - 1) + 1;
      rest_ = text.substr(done, end - done);
      done = end;
    }
  }
  lose(text.substr(done));
  // Reports the loss at once, because the process may end before it writes the next line.
  if (regular_ && rest_.empty()) mark_hole();
}

void FileSink::lose(std::string_view lines) {
  const std::uint64_t count = lines_in(lines);
  untold_ += count;
  lost_lines_ += count;
}

/// Cuts off the end of the file, because the disk may be full, and writes the report of lost lines
/// in place of the end. False if the report was not written in full.
bool FileSink::mark_hole() {
  const std::uint64_t cut = cut_for(lost_(untold_).size());
  untold_ += cut;
  lost_lines_ += cut;
  const std::string line = lost_(untold_);
  const std::size_t done = put(line);
  if (done == 0) return false;
  untold_ = 0;
  rest_ = line.substr(done);
  return rest_.empty();
}

/// Cuts whole lines off the end of the file, to make room for `bytes` bytes and for a block.
/// Returns the number of lines cut off.
std::uint64_t FileSink::cut_for(std::size_t bytes) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return 0;
  const auto size = static_cast<std::size_t>(status.st_size);
  const std::size_t from = size - std::min(size, kLinesBytes);
  std::string end(size - from, '\0');
  const ssize_t got = ::pread(fd_.get(), end.data(), end.size(), static_cast<off_t>(from));
  if (got != static_cast<ssize_t>(end.size())) return 0;
  const std::size_t keep_max = end.size() - std::min(end.size(), kBlockBytes + bytes);
  const std::size_t keep = keep_max == 0 ? 0 : end.rfind('\n', keep_max - 1) + 1;
  if (keep == 0 && from > 0) return 0;  // no line ends before keep_max
  if (::ftruncate(fd_.get(), static_cast<off_t>(from + keep)) != 0) return 0;
  return lines_in(std::string_view(end).substr(keep));
}

}  // namespace peal::io
