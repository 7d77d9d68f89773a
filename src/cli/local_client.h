// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/local_protocol.h"
#include "io/fd.h"

namespace peal::cli {

/// One connection to a node's Unix socket. All errors are one line, and final: the connection is
/// of no use afterwards. Thread: one.
class LocalClient {
 public:
  /// Connects and exchanges hellos; waits at most so long for the node's answer.
  static Result<LocalClient, std::string> connect(const std::string& path, int timeout_ms = 5'000);

  const Welcome& welcome() const { return welcome_; }
  const std::string& path() const { return path_; }
  /// Queues bytes of whole records; nothing is sent yet.
  std::vector<std::byte>& output() { return output_; }
  bool has_output() const { return !output_.empty(); }
  /// True if less than `bytes_max` is queued.
  bool has_room(std::size_t bytes_max) const { return output_.size() - output_used_ < bytes_max; }
  /// Sends as much of the queue as the node takes without waiting.
  Result<void, std::string> send_some();
  /// No more requests will come.
  void finish_output();

  /// What next() found.
  enum class Arrival { record, nothing, ended };
  /// The next record that has arrived, without waiting. Its body is valid until the next call. A
  /// `closing` record is an error, with the node's reason. `ended`: the node closed the connection.
  Result<Arrival, std::string> next(Record& out);
  /// Waits until there is something to read, or, with output queued, room to send; or until
  /// `timeout_ms` (-1: no limit) or `other_fd` (-1: none) becomes readable. True if `other_fd` did.
  bool wait(int timeout_ms, int other_fd = -1);
  /// The next record, waiting at most `timeout_ms` for it (-1: no limit). Sends queued output.
  Result<Record, std::string> receive(int timeout_ms);

 private:
  LocalClient(io::Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  std::string ended() const;

  io::Fd fd_;
  std::string path_;
  Welcome welcome_;
  std::vector<std::byte> output_;
  std::size_t output_used_ = 0;
  std::vector<std::byte> input_;
  std::size_t input_used_ = 0;
  bool input_over_ = false;
  std::vector<std::byte> scratch_ = std::vector<std::byte>(256U << 10);  ///< read to
};

/// A client of any of the sockets that `to` means; the first that answers.
Result<LocalClient, std::string> connect_any(const std::string& to);

}  // namespace peal::cli
