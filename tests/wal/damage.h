// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "story.h"

namespace peal::wal::test {

/// The record that make_log() appends at this position, in order from 1.
std::string sample(std::uint64_t position);
inline constexpr std::uint64_t kSamples = 12;

/// How a process that has a log ends.
enum class Ending : std::uint8_t { closed, killed };
/// A log of kSamples records in several segments, two or three to a commit; all of them durable.
void make_log(sim::Disk& disk, Ending ending, std::size_t blocks_from = Options{}.blocks_from);

/// Opens a log of make_log() that was changed at this place: it must be refused with the file, the
/// place and a remedy, or have all its records. Empty, or what is wrong on one line.
std::string judge_damage(sim::Disk& disk, const std::string& name, std::uint64_t at);

/// judge_damage() for each byte of small logs, in whole blocks and not, changed in three ways.
/// Empty, or what is wrong.
std::string flip_every_byte();

/// Each file of small logs, closed and killed, cut at each byte: refused, with its file and a place
/// that is not behind the cut, or all its records are there. Empty, or what is wrong.
std::string cut_at_every_byte();

/// Any folder with files: refused with a message, or opened as a log that can be read and
/// continued, and that the next start reads alike. Empty, or what is wrong on one line.
std::string judge_any(sim::Disk& disk);

}  // namespace peal::wal::test
