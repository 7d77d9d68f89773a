// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace peal::order {

/// One setting of an engine. The configuration file, its reference page, --print-config, the checks
/// and the simulator all use this description.
struct Option {
  enum class Kind : std::uint8_t {
    number,
    duration,   ///< in nanoseconds
    fraction,   ///< in thousandths
    word,       ///< one of `words`; the first word has the number `least`
    flag,       ///< true or false
    acceptors,  ///< a list of nodes; NodeList contains the list, OptionValues does not
  };
  /// The key with its table, such as "ring.token_loss_ms". If the value is a duration, the key ends
  /// with the unit of time.
  std::string_view key;
  Kind kind = Kind::number;
  std::int64_t normal = 0;                    ///< the default
  std::int64_t least = 0, most = 0;           ///< accepted range
  std::span<const std::string_view> words{};  ///< for Kind::word
  std::optional<std::int64_t> automatic{};    ///< the number that is "auto" in a file
  /// Range from which the simulator draws values; both 0: it does not draw the option.
  std::int64_t drawn_least = 0, drawn_most = 0;
  bool cluster_wide = false;  ///< must be equal on all nodes
  bool internal = false;      ///< for tests and the simulator only
  bool in_status = false;     ///< `peal status` shows the value
  std::string_view help{};    ///< sentences; the last sentence has no full stop
  std::string_view absent{};  ///< for Kind::acceptors: the behaviour without the option
  /// If this text is empty, a configuration with an engine that lacks this option may set the
  /// option to its default, without effect. Otherwise such a configuration must not set the option,
  /// and this text gives the reason. The text continues "leave it out, ".
  std::string_view refused_elsewhere{};

  /// Whether `value` is in the accepted range.
  bool accepts(std::int64_t value) const { return value >= least && value <= most; }
  /// The key without its table: "token_loss_ms".
  std::string_view name() const { return key.substr(key.rfind('.') + 1); }
  /// The table of the configuration file that holds the option; empty for the top level.
  std::string_view table() const {
    const auto dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
  /// True for a number, a duration or a fraction that users may set.
  bool is_tunable() const { return (kind == Kind::number || is_decimal()) && !internal; }
  /// True if a file may give digits after the point: for durations and fractions.
  bool is_decimal() const { return kind == Kind::duration || kind == Kind::fraction; }
  /// The option's value divided by the number in a file: 1,000,000 for token_loss_ms, because the
  /// value is in nanoseconds; 1,000 for a fraction. 1 for all other kinds.
  std::int64_t unit() const;
};

/// The number as it is written in a file. A duration is written in the unit of its key: 1,500,000
/// ns is 1.5 if the key ends with "_ms". A word such as "majority" and the word "auto" are written
/// with their quotes. Empty for Kind::acceptors.
std::string text_of(const Option& option, std::int64_t number);
/// The error text if `number` is not accepted: one line with the key, the number and the range.
/// Empty if `number` is accepted.
std::string refusal(const Option& option, std::int64_t number);
/// A text that names the accepted values. It completes "accepted is …".
std::string accepted_by(const Option& option);
/// Parses what a user typed: a word, "true", "false", "auto", or a whole number in decimal digits.
/// nullopt if the option does not accept `typed`, or if the option is a duration or a list of
/// acceptors.
std::optional<std::int64_t> number_of(const Option& option, std::string_view typed);

}  // namespace peal::order
