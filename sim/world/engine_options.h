// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "order/registry/registry.h"

namespace peal::sim {

/// True if scenarios may call the option `name`. Accepted are the name of the option's key
/// ("token_loss_ms"), this name without the unit ("token_loss", "history"), and both names with '-'
/// in place of '_'.
bool is_called(const order::Option& option, std::string_view name);

/// Engine options that users choose by arguments of `peal sim` and keys of `cluster` in scenarios.
inline constexpr std::array<std::string_view, 7> kEngineChoices{
    "delivery", "dissemination", "ensembles", "merge", "optimistic", "storage", "win"};

/// The engine of a simulated cluster, and all of its options. The options of the default engine are
/// always included: seeds draw them, and the packet size and max_gap of every engine come from
/// them.
class EngineOptions {
 public:
  EngineOptions() : EngineOptions(order::default_engine()) {}
  /// All options have their defaults, with two exceptions: `history`, and the options that every
  /// engine takes from the default engine.
  explicit EngineOptions(const order::Descriptor& engine);

  const order::Descriptor& engine() const { return *engine_; }
  const order::Traits& traits() const { return engine_->traits; }
  bool has_quorum() const { return engine_->traits.quorum; }
  bool has_acceptors() const { return engine_->traits.has_acceptors(); }
  bool is_genuine() const { return engine_->traits.genuine; }

  /// Finds an option by a name that scenarios use: first in the engine, then in the default engine.
  /// Null if neither has the option.
  const order::Option* find(std::string_view name) const;
  /// Sets all options of that name from a text such as 40ms, 64, aggressive or yes. False if no
  /// option of that name accepts the value. Times without a unit are in milliseconds.
  bool read(std::string_view name, const std::string& text);
  /// Sets all options of that name to the number; times are in nanoseconds. No effect if the engine
  /// has no such option.
  void set(std::string_view name, std::int64_t number);
  /// The value of an option, which must exist.
  std::int64_t number(std::string_view name) const;
  Duration time(std::string_view name) const { return Duration{number(name)}; }
  /// The value of an option whose value is a word, without quotes.
  std::string_view word(std::string_view name) const;
  /// Returns an empty string if the options are valid together. Otherwise returns one line with the
  /// key, its value and the accepted values.
  std::string validate(const std::vector<order::DomainNodes>& domains) const;

  const order::OptionValues& values() const { return values_; }
  std::uint32_t packet_bytes_max() const;
  std::uint32_t max_gap() const;
  /// Options in kEngineChoices whose values are not the defaults, in a scenario's syntax:
  /// " ensembles=3".
  std::string choices() const;
  /// True if the engine has the option and its value is not the default.
  bool differs(std::string_view name) const;

  bool has_logs() const { return has_quorum() && needs(1).log; }
  bool votes_in_memory() const { return has_quorum() && !needs(1).log; }
  std::uint32_t ensembles() const { return needs(1).ensembles; }
  bool is_optimistic() const { return needs(1).optimistic; }
  /// What the engine needs with these options in a cluster of `nodes` nodes.
  order::Needs needs(std::uint32_t nodes) const { return engine_->needs(values_, nodes); }
  /// Returns the needs of the default engine. Its time for a view change bounds how long scenarios
  /// wait.
  order::Needs usual() const;

 private:
  /// Copies the packet size and max_gap from the default engine.
  void follow();

  const order::Descriptor* engine_;
  order::OptionValues values_;
};

/// Finds an option of any engine; null if no engine has an option of that name.
const order::Option* find_option_named(std::string_view name);
/// The engines that have an option of that name: "paxos or ridge".
std::string engines_with_option(std::string_view name);

}  // namespace peal::sim
