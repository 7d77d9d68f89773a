// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "group/message.h"

namespace peal::group::test {

struct Sample {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Tables of two daemons with clients in three groups.
Tables sample_tables();
std::vector<Traffic> sample_traffic();
/// Messages of all kinds and shapes.
std::vector<Sample> samples();

}  // namespace peal::group::test
