// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/ring_queue.h"
#include "io/fabric/status.h"
#include "port/memory.h"

namespace peal::io::fabric {

/// The completions that the engine has not taken yet.
class Ends {
 public:
  void add(std::uint64_t token, port::WriteEnd end, WriteCounters& counters) {
    switch (end) {
      case port::WriteEnd::ok: ++counters.ok; break;
      case port::WriteEnd::denied: ++counters.denied; break;
      case port::WriteEnd::down: ++counters.down; break;
    }
    done_.push_back({token, end});
  }
  bool next(port::WriteDone& out) {
    if (done_.empty()) return false;
    out = done_.front();
    done_.pop_front();
    return true;
  }
  bool empty() const { return done_.empty(); }

 private:
  RingQueue<port::WriteDone> done_;
};

}  // namespace peal::io::fabric
