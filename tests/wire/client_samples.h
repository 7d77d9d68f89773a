// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace peal::wire::test {

/// One record of the protocol of clients, header included.
struct ClientSample {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Each kind of record, and each shape that it can have.
std::vector<ClientSample> client_samples();

}  // namespace peal::wire::test
