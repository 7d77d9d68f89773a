// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace peal::sim_hooks {

/// Counts how often one place in the code ran. Probes link themselves into one list on first use,
/// so that the simulator can print them all. Thread: any.
class Probe {
 public:
  explicit Probe(const char* name);
  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  const char* name() const { return name_; }
  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  const Probe* next() const { return next_; }

  static const Probe* first();

 private:
  const char* name_;
  std::atomic<std::uint64_t> hits_{0};
  Probe* next_;
};

}  // namespace peal::sim_hooks
