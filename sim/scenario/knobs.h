// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "order/ring/options.h"

namespace peal::sim {

/// Whether a scenario may set the option by its name. Options with words have scenario keys of
/// their own.
bool is_knob(const order::Option& option);

/// True if `key` is the scenario's name of the option: "token_loss_ms", or for durations also
/// "token_loss".
bool is_called(const order::Option& option, const std::string& key);

/// Sets an option of the ring from text: token_loss=40ms, token_loss_ms=40, max_gap=64. False if
/// there is no such option, or the text is not a value of it. order::ring::validate checks ranges.
bool read_knob(const std::string& key, const std::string& value, order::ring::Options& ring);

}  // namespace peal::sim
