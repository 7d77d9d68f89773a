// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/ring_queue.h"
#include "io/fabric/route.h"

namespace peal::io::fabric {

/// Writes travel in frames. The owner applies them, and answers in their order.
class TcpRoute final : public Route {
 public:
  TcpRoute(const MemberId& owner, WriteCounters& counters) : owner_(owner), counters_(counters) {}

  void on_record(const Record& record, Channel& channel) override;
  bool pump(StagedWrites& staged, Channel& channel, Ends& ends) override;
  void finish(Ends& ends) override;

 private:
  /// Frames that the kernel does not take wait as staged writes, except for these bytes.
  static constexpr std::size_t kUnsentMax = 256U << 10;
  /// Writes without an answer. More are staged until answers come.
  static constexpr std::size_t kOutstandingMax = 1U << 16;

  void fill_frame(StagedWrites& staged, Channel& channel);
  void answer(Ends& ends);

  MemberId owner_;
  WriteCounters& counters_;
  RingQueue<std::uint64_t> outstanding_;  ///< tokens
  std::size_t part_done_ = 0;             ///< bytes of the first staged write that have left
  struct Answers {
    port::WriteEnd end{};
    std::uint32_t count{};
  };
  RingQueue<Answers> answers_;  ///< came, but not passed on yet
};

}  // namespace peal::io::fabric
