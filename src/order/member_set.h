// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "base/ids.h"

namespace peal::order {

/// A set of members as a sorted vector: small, ordered, cheap to compare and to encode.
using MemberSet = std::vector<MemberId>;

inline bool contains(std::span<const MemberId> set, const MemberId& member) {
  return std::binary_search(set.begin(), set.end(), member);
}
inline bool insert(MemberSet& set, const MemberId& member) {
  const auto at = std::lower_bound(set.begin(), set.end(), member);
  if (at != set.end() && *at == member) return false;
  set.insert(at, member);
  return true;
}
inline void erase(MemberSet& set, const MemberId& member) {
  const auto at = std::lower_bound(set.begin(), set.end(), member);
  if (at != set.end() && *at == member) set.erase(at);
}
inline bool is_subset(std::span<const MemberId> part, std::span<const MemberId> whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}
inline MemberSet set_union(std::span<const MemberId> a, std::span<const MemberId> b) {
  MemberSet result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}
inline MemberSet set_minus(std::span<const MemberId> a, std::span<const MemberId> b) {
  MemberSet result;
  result.reserve(a.size());
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}
inline bool intersects(std::span<const MemberId> a, std::span<const MemberId> b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}
/// The index of `member` in `set`; set.size() if the set lacks it.
inline std::size_t index_in(std::span<const MemberId> set, const MemberId& member) {
  const auto at = std::lower_bound(set.begin(), set.end(), member);
  if (at == set.end() || *at != member) return set.size();
  return static_cast<std::size_t>(at - set.begin());
}

}  // namespace peal::order
