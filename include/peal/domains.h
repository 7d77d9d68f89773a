// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace peal {
/// Namespace of this version: see types.h.
inline namespace v0 {

/// The destinations of a message: the nodes of the domains with these names (Domain::name), or all
/// nodes if there is no name. Only for arguments: it refers to the names, and does not copy them.
class DomainNames {
 public:
  DomainNames() = default;
  /// One name; an empty text is no name.
  DomainNames(std::string_view name) : one_(name) {}
  DomainNames(const char* name) : one_(name) {}
  DomainNames(const std::string& name) : one_(name) {}
  /// Several names, such as {"east", "west"}. The order does not matter.
  DomainNames(std::initializer_list<std::string_view> names)
      : several_(names.begin(), names.size()) {}
  DomainNames(std::span<const std::string_view> names) : several_(names) {}
  DomainNames(const std::vector<std::string_view>& names) : several_(names) {}

  /// The names as they were given.
  std::span<const std::string_view> all() const {
    return one_.empty() ? several_ : std::span(&one_, 1);
  }

 private:
  std::string_view one_;
  std::span<const std::string_view> several_;
};

}  // namespace v0
}  // namespace peal
