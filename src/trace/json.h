// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/event.h"
#include "trace/names.h"

// The text form of a trace: one JSON object per line. src/trace/README.md describes every key.

namespace peal::trace {

/// Longest line that parse_json accepts, in bytes.
inline constexpr std::size_t kLineBytesMax = 1U << 20;

/// Appends one line, with its line end. Omits keys that the event's kind does not use. Thread: any,
/// if no other thread changes `names` meanwhile.
void append_json(std::string& out, const Event& event, const Names& names);

/// Parses one line, without its line end. New node names get ids in `names`. Unknown keys are
/// ignored. The error says what is wrong, e.g. "key 'seq' is missing".
Result<Event, std::string> parse_json(std::string_view line, Names& names);

/// Ids as text, for example `a.1763`, `a.1763:42`, `12@a.1763`.
std::string text_of(const MemberId& id, const Names& names);
std::string text_of(const MessageId& id, const Names& names);
std::string text_of(const ViewId& id, const Names& names);

}  // namespace peal::trace
