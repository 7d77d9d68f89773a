// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "order/ring/options.h"

namespace peal::sim {

/// May a scenario set the option by its name? Tokenizer have keys of their own.
bool is_knob(const order::Option& option);

/// True if `key` is what scenarios call the option: "token_loss_ms", or, for values with a unit,
/// "token_loss".
bool is_called(const order::Option& option, const std::string& key);

/// Sets a tunable of the ring from text: token_loss=40ms, token_loss_ms=40, max_gap=64. False if
/// there is no such tunable, or it takes no such value. Ranges are for order::ring::validate.
bool read_knob(const std::string& key, const std::string& value, order::ring::Options& ring);

}  // namespace peal::sim
