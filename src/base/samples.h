// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

namespace peal::sim_hooks {

/// Values inside a module that no output shows, and that an experiment measures. The first value
/// of each sample is the number of the node at which it was taken.
enum class Sample : std::uint8_t {
  /// A node of the causal graph has joined: origin, number, members with nodes that it does not
  /// follow (its origin included; 0 if it has no unit to be ordered), pending units, candidates.
  node_joined,
  /// A unit was decided: origin, number, members that had voted, number of the activation, and the
  /// candidates of the next one.
  unit_decided,
  /// Everything that followed from a node that joined was decided: elementary steps so far.
  node_ordered,
};

/// Takes the samples of one thread.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual void take(Sample sample, std::initializer_list<std::uint64_t> values) = 0;
};

/// The sampler of this thread; null if nothing is measured.
Sampler* sampler();
/// Sets the sampler of this thread. `sampler` may be null.
void set_sampler(Sampler* sampler);

}  // namespace peal::sim_hooks
