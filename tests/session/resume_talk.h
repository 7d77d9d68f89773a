// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "daemon.h"

namespace peal::session::test {

/// After how many bytes connections of the client are cut.
struct Cut {
  std::size_t input = ~std::size_t{0};        ///< of the client, after it joined
  std::size_t output = ~std::size_t{0};       ///< of the daemon
  std::size_t again_input = ~std::size_t{0};  ///< the same of the second connection
  std::size_t again_output = ~std::size_t{0};
  bool shares = false;        ///< the client's events are in shared memory
  bool shares_again = false;  ///< also after it reconnected
};
struct Talk {
  std::vector<std::string> events;    ///< of the client
  std::vector<std::string> observed;  ///< by another member of the group
  std::set<std::string> refused;
  std::uint64_t acked = 0;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::uint64_t cuts = 0;
  std::uint64_t shared = 0;  ///< events that lay in shared memory
  std::uint64_t gone = 0;    ///< and events that were replaced there
};
/// A client sends, is refused, and receives its own messages and another client's.
Talk talk(const Cut& cut);
/// True if no event was lost, duplicated or reordered.
bool same(const Talk& a, const Talk& b);

}  // namespace peal::session::test
