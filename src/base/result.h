// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "peal/result.h"

namespace peal {

/// Reasons why an operation failed. Each code exists because callers react to it in a different
/// way.
enum class Errc : std::uint8_t {
  would_block,     ///< a queue is full now: wait for the descriptor, then try again
  too_large,       ///< over the maximum message size: nothing was sent
  closed,          ///< the member or connection has ended: open a new one
  invalid_option,  ///< the configuration is wrong: the message names the key
  address_in_use,  ///< another process has the address
  not_permitted,   ///< the operating system or the other side refused
  system,          ///< another failure of the operating system
};

std::string_view errc_name(Errc code);

/// Makes an error that converts to a Result: `return unexpected(Errc::closed);`.
template <class E>
constexpr Unexpected<std::decay_t<E>> unexpected(E&& error) {
  return Unexpected<std::decay_t<E>>(std::forward<E>(error));
}

/// Ignores an error on purpose, and says why.
template <class T>
constexpr void ignore(T&&, std::string_view /*why*/) {}

}  // namespace peal
