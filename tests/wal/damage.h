// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "story.h"

namespace peal::wal::test {

/// What the log of make_log() is asked to hold, in order from 1.
std::string sample(std::uint64_t position);
inline constexpr std::uint64_t kSamples = 12;

/// How a process that has a log ends.
enum class Ending : std::uint8_t { closed, killed };
/// A log of kSamples records in several segments, two or three to a commit; all of them durable.
void make_log(sim::Disk& disk, Ending ending);

/// Changes each byte of a small log in turn, and opens it: either it is refused, and the file is
/// named, or all its records are there. Empty, or what is wrong on one line.
std::string flip_every_byte();

}  // namespace peal::wal::test
