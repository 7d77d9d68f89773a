// SPDX-License-Identifier: Apache-2.0
#include "config/option_keys.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "config/schema.h"

namespace peal::config {
namespace {

using order::Option;

std::optional<double> as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) {
    return *real;
  }
  return std::nullopt;
}

/// The number that `value` stands for. Returns nothing if `value` is not of the option's kind, is a
/// duration or fraction outside the option's range, or is the number that a file calls "auto"
/// (Option::automatic).
std::optional<std::int64_t> number_of(const Option& option, const Value& value) {
  if (option.is_decimal()) {
    const auto number = as_number(value);
    if (!number) return std::nullopt;
    const double exact = *number * static_cast<double>(option.unit());
    // The range is checked before rounding, so that a value just outside is refused.
    if (exact < static_cast<double>(option.least) || exact > static_cast<double>(option.most)) {
      return std::nullopt;
    }
    return std::llround(exact);
  }
  if (option.kind == Option::Kind::flag) {
    const auto* truth = std::get_if<bool>(&value);
    if (truth == nullptr) return std::nullopt;
    return *truth ? 1 : 0;
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (option.kind == Option::Kind::word) return order::number_of(option, *text);
    return *text == "auto" ? option.automatic : std::nullopt;
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number == option.automatic) return std::nullopt;
  if (option.kind == Option::Kind::word) return std::nullopt;
  return *number;
}

bool set_acceptors(const Value& value, Settings& to) {
  const auto* numbers = std::get_if<Numbers>(&value);
  if (numbers == nullptr || numbers->size() % 2 == 0 || numbers->size() > kNodesMax) return false;
  std::vector<NodeId> acceptors;
  for (const std::int64_t number : *numbers) {
    if (number < 1 || number > std::int64_t{kNodeNumberMax}) return false;
    acceptors.push_back(NodeId{static_cast<std::uint32_t>(number)});
    if (std::count(acceptors.begin(), acceptors.end(), acceptors.back()) > 1) return false;
  }
  to.acceptors = std::move(acceptors);
  return true;
}

std::string acceptors_text(const Settings& from) {
  if (from.acceptors.empty()) return {};
  Numbers numbers;
  for (const NodeId node : from.acceptors) numbers.push_back(node.value);
  return shown(numbers);
}

Key<Settings> option_key(const Option& option) {
  Key<Settings> key;
  key.table = option.table();
  key.name = option.name();
  key.accepted = order::accepted_by(option);
  key.absent = option.absent;
  key.help = option.help;
  key.cluster_wide = option.cluster_wide;
  if (option.cluster_wide) key.changes = Changes::never;
  key.refused_elsewhere = option.refused_elsewhere;
  if (option.kind == Option::Kind::acceptors) {
    key.example = "[1, 2, 3]";
    key.changes = Changes::at_reload;
    key.set = &set_acceptors;
    key.get = &acceptors_text;
    return key;
  }
  key.normal = order::text_of(option, option.normal);
  key.set = [option](const Value& value, Settings& to) {
    const auto number = number_of(option, value);
    if (!number || !option.accepts(*number)) return false;
    to.options.set(option.key, *number);
    return true;
  };
  key.get = [option](const Settings& from) {
    const auto number = from.options.get(option.key);
    return number ? order::text_of(option, *number) : std::string();
  };
  return key;
}

}  // namespace

void add_option_keys(std::vector<Key<Settings>>& keys) {
  std::vector<Key<Settings>> found;
  for (const order::Descriptor* engine : order::engines()) {
    for (const Option& option : engine->options()) {
      if (option.internal) continue;
      auto known = std::find_if(found.begin(), found.end(), [&](const Key<Settings>& each) {
        return each.path() == option.key;
      });
      if (known == found.end()) known = found.insert(found.end(), option_key(option));
      known->engines.push_back(engine);
    }
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Key<Settings>& each) { return each.table.empty(); });
  std::move(found.begin(), found.end(), std::back_inserter(keys));
}

}  // namespace peal::config
