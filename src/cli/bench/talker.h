// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "io/fd.h"
#include "wire/client.h"

// Minimal clients for measurements, many on one thread. A client acts only when a function is
// called.

namespace peal::cli {

/// What a talker has received so far.
struct Heard {
  bool welcome = false;
  std::uint32_t message_bytes_max = 0;
  std::uint64_t messages = 0;
  std::uint64_t events = 0;
  std::uint64_t acked = 0;
  std::uint64_t left_out = 0;  ///< number of messages in gaps
  std::uint64_t warnings = 0;
  std::map<std::uint32_t, wire::ClientCode> replies;  ///< by request; the caller removes replies
  std::string closing;  ///< why the connection ended; empty while it is connected
};

/// One connection to a daemon.
class Talker {
 public:
  /// Connects to the daemon that listens at `socket`. The error is one line.
  static Result<std::unique_ptr<Talker>, std::string> connect(const std::string& socket);

  void hello(std::string_view name);
  void join(std::uint32_t request, std::string_view group, const wire::SlowLimits& limits);
  void send(std::string_view group, ByteView payload);
  std::uint64_t sent() const { return sent_; }
  const Heard& heard() const { return heard_; }
  Heard& heard() { return heard_; }

  int fd() const { return fd_.get(); }
  bool wants_to_write() const { return written_ < output_.size(); }
  /// Writes as much as possible without waiting.
  void write();
  /// Reads once without waiting, and handles all complete records.
  void read();

 private:
  explicit Talker(io::Fd fd) : fd_(std::move(fd)) {}
  void hear(const wire::Record& record);
  void hear_event(const wire::Record& record);
  void fail(std::string text);

  io::Fd fd_;
  std::vector<std::byte> output_;
  std::size_t written_ = 0;
  std::vector<std::byte> input_;
  std::size_t filled_ = 0;
  std::uint64_t sent_ = 0;
  Heard heard_;
};

/// Talkers, served by one thread.
class Crowd {
 public:
  Crowd();
  /// Connects one more talker, which exists as long as the crowd. The error is one line.
  Result<Talker*, std::string> add(const std::string& socket);
  /// Makes the talker stop reading.
  void stop_reading(const Talker& talker);
  /// Serves all talkers until `done` returns true. Returns false at `deadline_ns` (see now_ns()).
  bool run_until(const std::function<bool()>& done, std::int64_t deadline_ns);
  std::size_t size() const { return members_.size(); }

 private:
  struct Member {
    std::unique_ptr<Talker> talker;
    bool reads = true;
    bool writes = false;  ///< epoll waits for space to write
  };
  void watch(std::uint32_t index, bool first);
  void serve(std::uint32_t index, std::uint32_t events);
  io::Fd epoll_;
  std::vector<Member> members_;
};

}  // namespace peal::cli
