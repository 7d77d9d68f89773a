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

/// Writes DIR/peal.toml for nodes at these addresses. The error is one line.
Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses);

/// The same on the loopback interface, on ports that are free.
Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes);

}  // namespace peal::cli
