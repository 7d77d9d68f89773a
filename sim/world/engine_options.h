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

/// True if `name` is what scenarios call the option: the name of its key, "token_loss_ms", without
/// the unit, "token_loss" or "history", or with '-' in the place of '_'.
bool is_called(const order::Option& option, std::string_view name);

/// What `peal sim` and the word `cluster` of scenarios let people choose of engines that have it.
inline constexpr std::array<std::string_view, 5> kEngineChoices{"dissemination", "ensembles",
                                                                "merge", "optimistic", "storage"};

/// The engine of a simulated cluster, and all of its options. The options of the default engine
/// come with every engine: seeds draw them, and packets and gaps of all engines are as large as
/// they say.
class EngineOptions {
 public:
  EngineOptions() : EngineOptions(order::default_engine()) {}
  /// All options have their defaults.
  explicit EngineOptions(const order::Descriptor& engine);

  const order::Descriptor& engine() const { return *engine_; }
  bool has_quorum() const { return engine_->traits.quorum; }

  /// The options by the names that scenarios use; those of the engine before the default engine's.
  /// Null if there is none.
  const order::Option* find(std::string_view name) const;
  /// Sets all options of that name, as text has them: 40ms, 64, aggressive, yes. False if there is
  /// none that takes the value. Times without a unit are in milliseconds.
  bool read(std::string_view name, const std::string& text);
  /// Sets all options of that name to the number, which for times is in nanoseconds. Without one
  /// it does nothing: no other engine needs it.
  void set(std::string_view name, std::int64_t number);
  /// The value; the option exists.
  std::int64_t number(std::string_view name) const;
  Duration time(std::string_view name) const { return Duration{number(name)}; }
  /// The word, without quotes.
  std::string_view word(std::string_view name) const;
  /// Empty if the options go together; else one line that names key, value and what is accepted.
  std::string validate(const std::vector<order::DomainNodes>& domains) const;

  const order::OptionValues& values() const { return values_; }
  std::uint32_t packet_bytes_max() const;
  std::uint32_t max_gap() const;
  /// Those of kEngineChoices that are not the default, as a scenario has them: " ensembles=3".
  std::string choices() const;
  /// The engine has the option, and another value was chosen than the default.
  bool differs(std::string_view name) const;

  bool has_logs() const { return has_quorum() && needs(1).log; }
  bool votes_in_memory() const { return has_quorum() && !needs(1).log; }
  std::uint32_t ensembles() const { return needs(1).ensembles; }
  bool is_optimistic() const { return needs(1).optimistic; }
  /// What the engine takes with these options, on so many nodes.
  order::Needs needs(std::uint32_t nodes) const { return engine_->needs(values_, nodes); }
  /// The same of the default engine: how long its views take bounds what scenarios wait for.
  order::Needs usual() const;

 private:
  /// Options of packets and gaps follow those of the default engine, unless they were set.
  void follow();

  const order::Descriptor* engine_;
  order::OptionValues values_;
};

/// An option of any engine; null if there is none of that name.
const order::Option* find_option_named(std::string_view name);
/// The engines that have an option of that name: "paxos or ridge".
std::string engines_with_option(std::string_view name);

}  // namespace peal::sim
