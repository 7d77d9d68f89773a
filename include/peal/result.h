// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace peal {
inline namespace v0 {

struct Error;

/// Wraps an error that a function returns as a Result: `return Unexpected(error);`.
template <class E>
class Unexpected {
 public:
  explicit constexpr Unexpected(E error) : error_(std::move(error)) {}  ///< wraps `error`
  constexpr const E& error() const& { return error_; }                  ///< the wrapped error
  constexpr E&& error() && { return std::move(error_); }                ///< moves the error

 private:
  E error_;
};

/// A value or an error.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  /// A successful Result with a default value.
  constexpr Result() requires std::default_initializable<T>
  = default;
  /// A successful Result with this value.
  template <class U = T>
  requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, Result> &&
           (std::same_as<T, E> ||
            !std::same_as<std::remove_cvref_t<U>, E>)) constexpr Result(U&& value)
      : content_(std::in_place_index<0>, std::forward<U>(value)) {}
  /// A failed Result with this error.
  template <std::convertible_to<E> G>
  constexpr Result(Unexpected<G> error)
      : content_(std::in_place_index<1>, std::move(error).error()) {}
  /// A failed Result with this error.
  constexpr Result(E error) requires(std::same_as<E, Error> && !std::same_as<T, E>)
      : content_(std::in_place_index<1>, std::move(error)) {}

  /// True if there is a value, and no error.
  constexpr bool ok() const { return content_.index() == 0; }
  /// Same as ok().
  constexpr bool has_value() const { return ok(); }
  /// Same as ok().
  explicit constexpr operator bool() const { return ok(); }
  /// The value; throws std::bad_variant_access if there is none.
  constexpr T& value() & { return std::get<0>(content_); }
  constexpr const T& value() const& { return std::get<0>(content_); }
  constexpr T&& value() && { return std::get<0>(std::move(content_)); }
  /// Same as value().
  constexpr T& operator*() & { return value(); }
  constexpr const T& operator*() const& { return value(); }          ///< same as value()
  constexpr T&& operator*() && { return std::move(*this).value(); }  ///< moves the value
  /// Gives access to the members of the value; throws std::bad_variant_access if there is none.
  constexpr T* operator->() { return &value(); }
  constexpr const T* operator->() const { return &value(); }  ///< the same for a const Result
  /// The value, or `otherwise` if there is none.
  constexpr T value_or(T otherwise) const { return ok() ? value() : std::move(otherwise); }
  /// The error; throws std::bad_variant_access if there is a value.
  constexpr E& error() & { return std::get<1>(content_); }
  constexpr const E& error() const& { return std::get<1>(content_); }
  constexpr E&& error() && { return std::get<1>(std::move(content_)); }

  /// True if `a` and `b` have equal values, or equal errors.
  friend constexpr bool operator==(const Result& a, const Result& b) requires(
      std::equality_comparable<T>&& std::equality_comparable<E>) {
    return a.content_ == b.content_;
  }

 private:
  std::variant<T, E> content_;
};

/// Success without a value, or an error.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  /// A successful Result.
  constexpr Result() = default;
  /// A failed Result with this error.
  template <std::convertible_to<E> G>
  constexpr Result(Unexpected<G> error) : error_(std::move(error).error()) {}
  /// A failed Result with this error.
  constexpr Result(E error) requires std::same_as<E, Error> : error_(std::move(error)) {}

  /// True if there is no error.
  constexpr bool ok() const { return !error_.has_value(); }
  /// Same as ok().
  constexpr bool has_value() const { return ok(); }
  /// Same as ok().
  explicit constexpr operator bool() const { return ok(); }
  /// The error; throws std::bad_optional_access if there is none.
  constexpr E& error() & { return error_.value(); }
  constexpr const E& error() const& { return error_.value(); }
  constexpr E&& error() && { return std::move(error_).value(); }

  /// True if `a` and `b` both succeeded, or failed with equal errors.
  friend constexpr bool operator==(const Result& a,
                                   const Result& b) requires std::equality_comparable<E> {
    return a.error_ == b.error_;
  }

 private:
  std::optional<E> error_;
};

}  // namespace v0
}  // namespace peal
