// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

namespace peal {

/// The number of a domain: a subset of the nodes with an order of its own. Domains are numbered
/// from 1, as in the configuration. 0 stands for all nodes.
using DomainId = std::uint8_t;
inline constexpr std::uint32_t kDomainMax = 15;

/// A set of domains with the numbers 1 to kDomainMax. As the destinations of a message: the nodes
/// of these domains, or all nodes if the set is empty.
class DomainSet {
 public:
  constexpr DomainSet() = default;
  /// Only `domain`; the empty set if `domain` is 0. `domain` is at most kDomainMax.
  static constexpr DomainSet of(DomainId domain) { return DomainSet(bit(domain)); }
  /// Bit i stands for domain i. Ignores bit 0.
  static constexpr DomainSet of_bits(std::uint32_t bits) { return DomainSet(bits & ~1U); }
  /// All domains up to `count`.
  static constexpr DomainSet up_to(std::uint32_t count) { return of_bits((2U << count) - 1U); }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint32_t size() const { return static_cast<std::uint32_t>(std::popcount(bits_)); }
  constexpr bool has(DomainId domain) const { return (bits_ & bit(domain)) != 0; }
  constexpr bool meets(DomainSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr std::uint16_t bits() const { return bits_; }
  /// The domain with the lowest number; 0 if the set is empty.
  constexpr DomainId first() const {
    return empty() ? DomainId{0} : static_cast<DomainId>(std::countr_zero(bits_));
  }
  constexpr void add(DomainId domain) { bits_ = static_cast<std::uint16_t>(bits_ | bit(domain)); }

  /// Visits the domains in ascending order.
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint16_t left) : left_(left) {}
    constexpr DomainId operator*() const { return static_cast<DomainId>(std::countr_zero(left_)); }
    constexpr Iterator& operator++() {
      left_ = static_cast<std::uint16_t>(left_ & (left_ - 1U));
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint16_t left_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

  friend constexpr auto operator<=>(DomainSet, DomainSet) = default;

 private:
  constexpr explicit DomainSet(std::uint32_t bits) : bits_(static_cast<std::uint16_t>(bits)) {}
  static constexpr std::uint32_t bit(DomainId domain) { return domain == 0 ? 0 : 1U << domain; }

  std::uint16_t bits_ = 0;
};

}  // namespace peal
