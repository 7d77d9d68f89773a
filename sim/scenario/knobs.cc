// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/knobs.h"

#include "sim/scenario/tokenizer.h"

namespace peal::sim {

bool is_knob(const order::Option& option) { return option.kind != order::Option::Kind::word; }

bool is_called(const order::Option& option, const std::string& key) {
  const std::string_view name = option.name();
  if (name == key) return true;
  constexpr std::string_view kEnding = "_ms";
  return option.kind == order::Option::Kind::duration && name.size() > kEnding.size() &&
         name.substr(0, name.size() - kEnding.size()) == key;
}

bool read_knob(const std::string& key, const std::string& value, order::ring::Options& ring) {
  for (const auto& each : order::ring::fields()) {
    if (!is_knob(each.option) || !is_called(each.option, key)) continue;
    const bool bare = value.find_first_not_of("0123456789.") == std::string::npos;
    const bool time = each.option.kind == order::Option::Kind::duration;
    Tokenizer words(time && bare ? value + "ms" : value, 0);
    each.set(ring,
             time ? words.duration().ns : static_cast<std::int64_t>(words.number(0, 0xffff'ffff)));
    return !words.failed();
  }
  return false;
}

}  // namespace peal::sim
