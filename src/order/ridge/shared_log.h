// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "port/log.h"

namespace peal::order::ridge {

/// One durable log as that of several acceptors, so that what all of them write is synced together.
/// A record begins with the number of its acceptor, and positions are those of the one log. Its
/// beginning is let go of once no acceptor needs it any more.
class SharedLog {
 public:
  /// One acceptor of each of these numbers; `log` outlives this.
  SharedLog(port::Log& log, const std::vector<std::uint8_t>& numbers);
  ~SharedLog();
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;

  /// Reads all records, and keeps each for its acceptor until that replays its part. Call it before
  /// any part is used. False: the log cannot be read, or holds what none of these
  /// acceptors wrote.
  bool replay();
  /// Of the acceptor with this index among the numbers.
  port::Log& of(std::size_t index);

 private:
  class Part;
  Result<LogPosition> checkpoint(ByteView labelled);
  ByteView labelled(std::uint8_t acceptor, ByteView record);

  port::Log& log_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::ridge
