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
    word,       ///< one of `words`; the first word has the number `least`
    flag,       ///< true or false
    acceptors,  ///< a list of nodes, which NodeList holds and OptionValues does not
  };
  std::string_view key;  ///< with its table: "ring.token_loss_ms"; the key of a duration ends with
                         ///< its unit
  Kind kind = Kind::number;
  std::int64_t normal = 0;                       ///< the default
  std::int64_t least = 0, most = 0;              ///< accepted range
  std::span<const std::string_view> words{};     ///< for Kind::word
  std::optional<std::int64_t> automatic{};       ///< the number that a file calls "auto"
  std::int64_t drawn_least = 0, drawn_most = 0;  ///< range that the simulator may draw from
  bool cluster_wide = false;                     ///< must be equal on all nodes
  bool internal = false;                         ///< for tests and the simulator only
  bool in_status = false;                        ///< `peal status` shows the value
  std::string_view help{};                       ///< sentences, the last one without its full stop
  std::string_view absent{};  ///< for Kind::acceptors: the behaviour without the option
  /// Why engines without this option refuse even its default; completes "leave it out". If the text
  /// is empty, such engines accept the default, which changes nothing.
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
  /// A number or duration that users may set.
  bool is_tunable() const { return (kind == Kind::number || kind == Kind::duration) && !internal; }
  /// The number that a 1 in a file stands for: 1,000,000 for token_loss_ms; 1 for all but
  /// durations.
  std::int64_t unit() const;
};

/// The number as a file spells it: 1.5 for 1,500,000 ns of an option whose key ends in _ms, "auto",
/// "majority". Words and "auto" are quoted. Empty for Kind::acceptors.
std::string text_of(const Option& option, std::int64_t number);
/// Empty if the number is accepted; else one line that names the key, the number and the range.
std::string refusal(const Option& option, std::int64_t number);
/// The accepted values, to complete "accepted is …".
std::string accepted_by(const Option& option);
/// Parses what a user typed: a word, "true", "false", "auto", or a whole number in decimal digits.
/// nullopt if this is none of the option's accepted values, or if the option is a duration or a
/// list of acceptors.
std::optional<std::int64_t> number_of(const Option& option, std::string_view typed);

}  // namespace peal::order
