// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace peal::order {

/// One setting of an engine. The configuration file, its reference, --print-config, the checks and
/// the simulator read the same rows.
struct Option {
  enum class Kind : std::uint8_t {
    number,
    duration,   ///< in nanoseconds
    word,       ///< one of `words`, of which the first has the number `least`
    flag,       ///< true or false
    acceptors,  ///< who votes: a list of nodes, which NodeList has and OptionValues does not
  };
  std::string_view key;  ///< with its table: "ring.token_loss_ms"; the unit of a duration is last
  Kind kind = Kind::number;
  std::int64_t normal = 0;                       ///< the default
  std::int64_t least = 0, most = 0;              ///< accepted
  std::span<const std::string_view> words{};     ///< of Kind::word
  std::optional<std::int64_t> automatic{};       ///< the number that a file calls "auto"
  std::int64_t drawn_least = 0, drawn_most = 0;  ///< what the simulator may draw
  bool cluster_wide = false;                     ///< must be equal on all nodes
  bool internal = false;      ///< chosen by tests and the simulator, not by users
  bool in_status = false;     ///< `peal status` shows what was chosen
  std::string_view help{};    ///< sentences, the last one without its full stop
  std::string_view absent{};  ///< of Kind::acceptors: what holds without the option
  /// Why engines that do not have the option refuse it even with its default; completes "leave it
  /// out". Empty: they take the default, which changes nothing.
  std::string_view refused_elsewhere{};

  /// Is the number, of this option's kind, accepted?
  bool accepts(std::int64_t value) const { return value >= least && value <= most; }
  /// The key without its table: "token_loss_ms".
  std::string_view name() const { return key.substr(key.rfind('.') + 1); }
  /// The table of the configuration that has it; empty for the top level.
  std::string_view table() const {
    const auto dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
  /// A number or a time that users may set.
  bool is_tunable() const { return (kind == Kind::number || kind == Kind::duration) && !internal; }
  /// What 1 in a file is as a number: 1,000,000 for token_loss_ms; 1 of all but durations.
  std::int64_t unit() const;
};

/// The number as a file has it: 1.5 for 1,500,000 ns of an option whose key ends in _ms, "auto",
/// "majority". Words and "auto" are in quotes.
std::string text_of(const Option& option, std::int64_t number);
/// Empty if the number is accepted, else one line that names the key, the number and the range.
std::string refusal(const Option& option, std::int64_t number);
/// What is accepted, to complete "accepted is …".
std::string accepted_by(const Option& option);
/// The number of a word, "true" or "false", a whole number in decimal digits, as somebody typed it;
/// nothing if it is none of the option's, or not accepted. Times are not read.
std::optional<std::int64_t> number_of(const Option& option, std::string_view typed);

}  // namespace peal::order
