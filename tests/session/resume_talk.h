// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "daemon.h"

namespace peal::session::test {

/// The numbers of bytes after which the client's connections are cut.
struct Cut {
  std::size_t input = ~std::size_t{0};        ///< from the client, after it joined
  std::size_t output = ~std::size_t{0};       ///< from the daemon
  std::size_t again_input = ~std::size_t{0};  ///< from the client, second connection
  std::size_t again_output = ~std::size_t{0};
  bool shares = false;        ///< the client's events are in shared memory
  bool shares_again = false;  ///< the same after it reconnected
};
struct Talk {
  std::vector<std::string> events;    ///< received by the client
  std::vector<std::string> observed;  ///< received by another member of the group
  std::set<std::string> refused;
  std::uint64_t acked = 0;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::uint64_t cuts = 0;
  std::uint64_t shared = 0;  ///< events that the client read in shared memory
  std::uint64_t gone = 0;    ///< events that were replaced before the client read them
};
/// A client sends messages, some of which are refused. It receives its own messages and those of
/// another client.
Talk talk(const Cut& cut);
/// True if both have the same events: none is lost, duplicated or reordered.
bool same(const Talk& a, const Talk& b);

}  // namespace peal::session::test
