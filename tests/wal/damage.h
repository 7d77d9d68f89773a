// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "story.h"

namespace peal::wal::test {

/// The record that make_log() appends at this position. Positions count from 1.
std::string sample(std::uint64_t position);
inline constexpr std::uint64_t kSamples = 12;

/// How the process that made a log ends.
enum class Ending : std::uint8_t { closed, killed };
/// Makes a log of kSamples records in several segments, with at most three records in a commit. All
/// records are durable.
void make_log(sim::Disk& disk, Ending ending, std::size_t blocks_from = Options{}.blocks_from);

/// Opens a log of make_log() whose file `name` was changed at the offset `at`. Either the log opens
/// with all its records, or it is refused with an error that names the file, the place and a
/// remedy. Returns what is wrong, on one line; empty if nothing is.
std::string judge_damage(sim::Disk& disk, const std::string& name, std::uint64_t at);

/// Changes each byte of small logs in three ways, and calls judge_damage(). Some of the logs are
/// written in whole blocks. Returns what is wrong; empty if nothing is.
std::string flip_every_byte();

/// Cuts each file of small logs at each byte, after the log was closed or its process was killed.
/// Then either the log opens with all its records, or it is refused with an error that names the
/// file and a place that is not behind the cut. Returns what is wrong; empty if nothing is.
std::string cut_at_every_byte();

/// Opens any folder with files. Either the folder is refused with a message, or it is a log that
/// can be read and continued. Then the next start must find the same records. Returns what is
/// wrong, on one line; empty if nothing is.
std::string judge_any(sim::Disk& disk);

}  // namespace peal::wal::test
