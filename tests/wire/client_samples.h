// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace peal::wire::test {

/// One record of the client protocol, header included.
struct ClientSample {
  std::string name;
  std::vector<std::byte> bytes;
};

/// A sample of each kind of record, in each shape that the kind can have.
std::vector<ClientSample> client_samples();

}  // namespace peal::wire::test
