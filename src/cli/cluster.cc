// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster.h"

#include <sys/stat.h>

#include <fstream>

#include "cli/keys.h"
#include "cli/process.h"
#include "cli/text.h"
#include "seal/key_file.h"

namespace peal::cli {

namespace {

constexpr const char* kKeyFile = "peal.key";

/// One that is there is used: nodes of this folder may still run with it.
Result<void, std::string> provide_key(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return make_key_file(path).map([](seal::KeyId) {});
  return seal::load_keys(path).map([](const seal::Keys&) {});
}

}  // namespace

Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses,
                                               Sealed sealed) {
  LocalCluster result;
  result.dir = dir;
  result.config = dir + "/peal.toml";
  if (sealed == Sealed::yes) {
    if (auto key = provide_key(dir + "/" + kKeyFile); !key) return tl::unexpected(key.error());
  }
  std::ofstream out(result.config, std::ios::trunc);
  out << "# A cluster on this machine. Any node of it can be run again by hand:\n"
      << "#   peal node --config " << result.config << " --name n1\n"
      << "cluster = \"" << cluster << "\"\n";
  if (sealed == Sealed::yes) {
    out << "key_file = \"" << kKeyFile << "\"\n";
  } else {
    out << "insecure = true\n";
  }
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
                                                     std::uint32_t nodes, Sealed sealed) {
  const auto ports = free_port_pairs(nodes);
  if (ports.empty()) {
    return tl::unexpected("not enough free UDP ports on 127.0.0.1 between 20000 and 32000 for " +
                          counted(nodes, "node"));
  }
  std::vector<std::string> addresses;
  for (const std::uint16_t port : ports) {
    addresses.push_back("127.0.0.1:" + std::to_string(port));
  }
  return make_cluster(dir, cluster, addresses, sealed);
}

}  // namespace peal::cli
