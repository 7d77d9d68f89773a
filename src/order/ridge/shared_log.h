// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "port/log.h"

namespace peal::order::ridge {

/// One durable log that a node's acceptors of several ensembles share, so that one sync makes the
/// records of all of them durable. Each record begins with the number of the acceptor's ensemble.
/// Positions are positions in the shared log. The beginning of the log is dropped once no acceptor
/// needs it.
class SharedLog {
 public:
  /// `numbers`: the ensembles of the acceptors. `log` must outlive this object.
  SharedLog(port::Log& log, const std::vector<std::uint8_t>& numbers);
  ~SharedLog();
  SharedLog(const SharedLog&) = delete;
  SharedLog& operator=(const SharedLog&) = delete;

  /// Reads all records, and keeps each for its acceptor until that acceptor replays its records.
  /// Call it before an acceptor uses its log. False if the log cannot be read, or if it holds a
  /// record that none of these acceptors wrote.
  bool replay();
  /// The log of the acceptor of ensemble `numbers[index]`.
  port::Log& of(std::size_t index);

 private:
  class Part;
  Result<LogPosition, Errc> checkpoint(ByteView labelled);
  ByteView labelled(std::uint8_t acceptor, ByteView record);

  port::Log& log_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::ridge
