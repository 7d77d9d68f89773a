// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace peal::wire::test {

/// One field of a golden packet, as its file names it.
struct Field {
  std::string name;
  std::size_t offset;
  std::size_t size;
};

/// A golden packet: the meaning of all its bytes is known.
struct Golden {
  std::string name;
  std::vector<std::byte> bytes;
  std::vector<Field> fields;  ///< the fields cover all bytes
};

/// The golden packet with this name, from tests/data/wire. Ends the program with a message if the
/// file is missing or malformed.
Golden load_golden(const std::string& name);

/// The names of all golden packets, sorted.
std::vector<std::string> golden_names();

}  // namespace peal::wire::test
