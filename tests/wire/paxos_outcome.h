// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "outcome.h"
#include "wire/paxos.h"

// Checks of fields that several frames of paxos.h and toto.h contain. The tests of the rules share
// them.

namespace peal::wire::test {

/// Checks a field with a round that must have begun. `with` gives the result for a round.
inline void expect_begun_round(const std::function<std::string(const Round&)>& with) {
  EXPECT_EQ(with({1, {{1}, 0}}), "none");
  EXPECT_EQ(with({kTop, kLastNode}), "none");
  EXPECT_EQ(with({kTop + 1, kLastNode}), "bad_value");
  EXPECT_EQ(with({}), "bad_value");
  EXPECT_EQ(with({0, {{1}, 10}}), "bad_value");
  EXPECT_EQ(with({1, {}}), "bad_value");
  EXPECT_EQ(with({1, kNobody}), "bad_value");
  EXPECT_EQ(with({1, kNodeTooLarge}), "bad_value");
}

/// Checks a field with an instance, or with another number from 1 on.
inline void expect_from_one(const std::function<std::string(Instance)>& with) {
  EXPECT_EQ(with(0), "bad_value");
  EXPECT_EQ(with(1), "none");
  EXPECT_EQ(with(kTop), "none");
  EXPECT_EQ(with(kTop + 1), "bad_value");
  EXPECT_EQ(with(~0ULL), "bad_value");
}

/// Checks a field with a counter that may also be 0.
inline void expect_counter(const std::function<std::string(std::uint64_t)>& with) {
  EXPECT_EQ(with(0), "none");
  EXPECT_EQ(with(kTop), "none");
  EXPECT_EQ(with(kTop + 1), "bad_value");
  EXPECT_EQ(with(~0ULL), "bad_value");
}

/// Sets the byte at `offset` to every value. Only the values in `accepted` may be accepted; all
/// others must be bad values.
inline void expect_bytes_accepted(std::vector<std::byte> packet, std::size_t offset,
                                  const std::vector<unsigned>& accepted,
                                  const std::function<Drop(ByteView)>& decode) {
  for (unsigned value = 0; value < 256; ++value) {
    packet[offset] = static_cast<std::byte>(value);
    const bool known = std::find(accepted.begin(), accepted.end(), value) != accepted.end();
    EXPECT_EQ(drop_name(decode(packet)), known ? "none" : "bad_value") << value;
  }
}

}  // namespace peal::wire::test
