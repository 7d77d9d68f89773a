// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace peal::cli {

/// A cluster on this machine, for `peal up` and `peal bench`: where its nodes are.
struct LocalCluster {
  std::string dir;
  std::string config;              ///< the path of its configuration file
  std::vector<std::string> names;  ///< n1, n2, …
};

/// Whether a cluster's packets are sealed: then with DIR/peal.key, which is made if it is not
/// there.
enum class Sealed : std::uint8_t { yes, no };

/// Writes DIR/peal.toml for nodes at these addresses. The error is one line.
Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses,
                                               Sealed sealed);

/// The same on the loopback interface, on ports that are free.
Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes, Sealed sealed);

}  // namespace peal::cli
