// SPDX-License-Identifier: Apache-2.0
#include "sim/knobs.h"

#include "sim/words.h"

namespace peal::sim {

bool is_called(const order::ring::Knob& knob, const std::string& key) {
  if (knob.name == key) return true;
  constexpr std::string_view kEnding = "_ms";
  return knob.duration != nullptr && knob.name.size() > kEnding.size() &&
         knob.name.substr(0, knob.name.size() - kEnding.size()) == key;
}

bool read_knob(const std::string& key, const std::string& value, order::ring::Options& ring) {
  for (const order::ring::Knob& knob : order::ring::knobs()) {
    if (!is_called(knob, key)) continue;
    const bool bare = value.find_first_not_of("0123456789.") == std::string::npos;
    const bool time = knob.duration != nullptr;
    Words words(time && bare ? value + "ms" : value, 0);
    if (time) {
      ring.*knob.duration = words.duration();
    } else {
      ring.*knob.number = static_cast<std::uint32_t>(words.number(0, 0xffff'ffff));
    }
    return !words.failed();
  }
  return false;
}

}  // namespace peal::sim
