// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace peal::io {

Result<std::unique_ptr<FileSink>, IoError> FileSink::open(const std::string& path, Mode mode,
                                                          std::size_t buffer_bytes) {
  int fd = STDOUT_FILENO;
  if (path != "-") {
    const int flags = mode == Mode::append ? O_APPEND : O_TRUNC;
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
    if (fd < 0) return unexpected(system_error("cannot open " + path, errno));
  }
  return std::unique_ptr<FileSink>(new FileSink(fd, path, buffer_bytes));
}

FileSink::FileSink(int fd, std::string path, std::size_t buffer_bytes)
    : fd_(fd), path_(std::move(path)), buffer_bytes_(buffer_bytes) {
  buffer_.reserve(buffer_bytes);
}

FileSink::~FileSink() {
  ignore(flush(), "a destructor has nobody to tell");
  if (path_ != "-") ::close(fd_);
}

void FileSink::append(std::string_view text) {
  if (error_) return;
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
  if (error_) return unexpected(*error_);
  return {};
}

void FileSink::write_out(std::string_view text) {
  while (!text.empty() && !error_) {
    const ssize_t bytes = ::write(fd_, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      error_ = system_error("cannot write to " + path_, errno);
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
}

}  // namespace peal::io
