// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/time.h"
#include "order/option.h"
#include "order/setup.h"

// Maps each option of an engine to a member of the engine's own options struct.

namespace peal::order {

/// One option, and the member of `T` that holds its value.
template <class T>
struct Field {
  Option option;
  std::int64_t (*get)(const T&);
  void (*set)(T&, std::int64_t);
};

namespace detail {

template <class V>
constexpr std::int64_t number_of(const V& value) {
  if constexpr (std::is_same_v<V, Duration>) {
    return value.ns;
  } else {
    return static_cast<std::int64_t>(value);
  }
}

template <class V>
constexpr V value_of(std::int64_t number) {
  if constexpr (std::is_same_v<V, Duration>) {
    return Duration{number};
  } else {
    return static_cast<V>(number);
  }
}

template <class M>
struct MemberOf;
template <class C, class V>
struct MemberOf<V C::*> {
  using Class = C;
  using Value = V;
};

}  // namespace detail

/// The field for the struct member `Member`. The option's default is the member's initial value.
/// The option's kind follows from the member's type. If this type is an enumeration, `option.words`
/// must name the enumerators, in ascending order.
template <auto Member>
constexpr auto field(Option option) {
  using T = typename detail::MemberOf<decltype(Member)>::Class;
  using V = typename detail::MemberOf<decltype(Member)>::Value;
  option.normal = detail::number_of(T{}.*Member);
  if constexpr (std::is_same_v<V, Duration>) option.kind = Option::Kind::duration;
  if constexpr (std::is_same_v<V, bool>) {
    option.kind = Option::Kind::flag;
    option.least = 0;
    option.most = 1;
  }
  if constexpr (std::is_enum_v<V>) {
    option.kind = Option::Kind::word;
    option.most = option.least + static_cast<std::int64_t>(option.words.size()) - 1;
  }
  return Field<T>{option, [](const T& from) { return detail::number_of(from.*Member); },
                  [](T& to, std::int64_t number) { to.*Member = detail::value_of<V>(number); }};
}

/// The options of `fields`, then the options `more`. A descriptor needs them as one array.
template <class T, std::size_t N, class... More>
constexpr std::array<Option, N + sizeof...(More)> options_of(const std::array<Field<T>, N>& fields,
                                                             const More&... more) {
  std::array<Option, N + sizeof...(More)> options{};
  std::size_t count = 0;
  for (const Field<T>& each : fields) options[count++] = each.option;
  ((options[count++] = more), ...);
  return options;
}

/// Writes into `to` the values whose options have a field.
template <class T>
void read_options(const OptionValues& values, std::span<const Field<T>> fields, T& to) {
  for (const Field<T>& each : fields) {
    if (const auto value = values.get(each.option.key)) each.set(to, *value);
  }
}

/// The refusal of the first value of `options` that is out of its range: one line, as refusal()
/// writes it. Empty if all values are accepted.
template <class T>
std::string refusal_in(const T& options, std::span<const Field<T>> fields) {
  for (const Field<T>& each : fields) {
    if (std::string wrong = refusal(each.option, each.get(options)); !wrong.empty()) return wrong;
  }
  return {};
}

/// Writes into `values` the value of each field of `from`.
template <class T>
void write_options(const T& from, std::span<const Field<T>> fields, OptionValues& values) {
  for (const Field<T>& each : fields) values.set(each.option.key, each.get(from));
}

}  // namespace peal::order
