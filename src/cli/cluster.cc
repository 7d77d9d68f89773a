// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster.h"

#include <fstream>

#include "cli/process.h"
#include "cli/text.h"

namespace peal::cli {

Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes) {
  const auto ports = free_port_pairs(nodes);
  if (ports.empty()) {
    return tl::unexpected("not enough free UDP ports on 127.0.0.1 between 20000 and 32000 for " +
                          counted(nodes, "node"));
  }
  LocalCluster result;
  result.dir = dir;
  result.config = dir + "/peal.toml";
  std::ofstream out(result.config, std::ios::trunc);
  out << "# A cluster on this machine. Any node of it can be run again by hand:\n"
      << "#   peal node --config " << result.config << " --name n1\n"
      << "cluster = \"" << cluster << "\"\n";
  for (std::uint32_t i = 0; i < nodes; ++i) {
    result.names.push_back("n" + std::to_string(i + 1));
    out << "\n[[nodes]]\nname = \"" << result.names.back()
        << "\"\naddress = \"127.0.0.1:" << ports[i] << "\"\n";
  }
  out.close();
  if (!out) return tl::unexpected("cannot write " + quote(result.config));
  return result;
}

}  // namespace peal::cli
