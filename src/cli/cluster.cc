// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster.h"

#include <fstream>

#include "cli/process.h"
#include "cli/text.h"

namespace peal::cli {

Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses) {
  LocalCluster result;
  result.dir = dir;
  result.config = dir + "/peal.toml";
  std::ofstream out(result.config, std::ios::trunc);
  out << "# A cluster on this machine. Any node of it can be run again by hand:\n"
      << "#   peal node --config " << result.config << " --name n1\n"
      << "cluster = \"" << cluster << "\"\n";
  for (const std::string& address : addresses) {
    result.names.push_back("n" + std::to_string(result.names.size() + 1));
    out << "\n[[nodes]]\nname = \"" << result.names.back() << "\"\naddress = \"" << address
        << "\"\n";
  }
  out.close();
  if (!out) return tl::unexpected("cannot write " + quote(result.config));
  return result;
}

Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes) {
  const auto ports = free_port_pairs(nodes);
  if (ports.empty()) {
    return tl::unexpected("not enough free UDP ports on 127.0.0.1 between 20000 and 32000 for " +
                          counted(nodes, "node"));
  }
  std::vector<std::string> addresses;
  for (const std::uint16_t port : ports) {
    addresses.push_back("127.0.0.1:" + std::to_string(port));
  }
  return make_cluster(dir, cluster, addresses);
}

}  // namespace peal::cli
