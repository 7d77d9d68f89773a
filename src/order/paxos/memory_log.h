// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "port/log.h"

namespace peal::order::paxos {

/// The log of an acceptor with votes in memory. It keeps nothing, because a restarted acceptor does
/// not read it. While the acceptor runs, its Store has its votes.
class MemoryLog final : public port::Log {
 public:
  /// `epoch`: the epoch of this incarnation, which is also the id of the log.
  explicit MemoryLog(std::uint64_t epoch) : epoch_(epoch) {}

  Result<void, port::LogFailure> replay(port::LogReader& /*reader*/) override { return {}; }
  Result<LogPosition, Errc> append(ByteView /*first*/, ByteView /*rest*/) override {
    return last_ = last_.next();
  }
  Result<LogPosition, Errc> checkpoint(ByteView /*record*/, LogPosition /*keep_from*/) override {
    return last_ = last_.next();
  }
  std::uint64_t id() const override { return epoch_; }
  LogPosition last() const override { return last_; }
  LogPosition durable() const override { return last_; }
  const std::optional<port::LogFailure>& failure() const override { return failure_; }

 private:
  const std::uint64_t epoch_;
  LogPosition last_{};
  const std::optional<port::LogFailure> failure_;
};

}  // namespace peal::order::paxos
