// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal::order::paxos {

/// How often a node sends link checks: once in `every` heartbeats. One check in `large_every` has
/// the size of the largest packet.
struct LinkRhythm {
  std::uint32_t every;
  std::uint32_t large_every;
};
inline constexpr LinkRhythm kRhythmOfOne{4, 4};
inline constexpr LinkRhythm kRhythmOfSeveral{12, 2};  ///< for each of several ensembles

inline const LinkRhythm& link_rhythm(bool of_several) {
  return of_several ? kRhythmOfSeveral : kRhythmOfOne;
}

}  // namespace peal::order::paxos
