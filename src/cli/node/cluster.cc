// SPDX-License-Identifier: Apache-2.0
#include "cli/node/cluster.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/node/keys.h"
#include "cli/node/process.h"
#include "cli/text.h"
#include "config/schema.h"
#include "seal/key_file.h"

namespace peal::cli {

namespace {

constexpr const char* kKeyFile = "peal.key";

/// Creates the key file, unless it exists: nodes of this folder may still run with the existing
/// key.
Result<void, std::string> provide_key(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (auto made = make_key_file(path); !made) return unexpected(made.error());
  } else if (auto loaded = seal::load_keys(path); !loaded) {
    return unexpected(loaded.error());
  }
  return {};
}

/// Writes the tables [[domain]]: the first nodes are domain d1, the next ones d2, and so on. A
/// group's name begins with that of its domain; all other groups are in d1.
std::vector<LocalDomain> write_domains(std::ofstream& out, const std::vector<std::string>& names,
                                       std::size_t size, std::uint32_t domains) {
  std::vector<LocalDomain> written;
  for (std::uint32_t number = 1; number <= domains; ++number) {
    LocalDomain& domain = written.emplace_back();
    domain.name = "d" + std::to_string(number);
    domain.groups = number == 1 ? "*" : domain.name + "*";
    out << "\n[[domain]]\nname = \"" << domain.name << "\"\nnodes = [";
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t node = (number - 1) * size + i;
      domain.nodes.push_back(names[node]);
      out << (i > 0 ? ", " : "") << node + 1;
    }
    out << "]\ngroups = [\"" << domain.groups << "\"]\n";
  }
  return written;
}

}  // namespace

Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses,
                                               const LocalRules& rules) {
  LocalCluster result;
  result.dir = dir;
  result.config = dir + "/peal.toml";
  const bool sealed = rules.sealed == Sealed::yes;
  const bool on_disk =
      rules.order->traits.quorum && rules.order->needs(rules.options, addresses.size()).log;
  if (on_disk) {
    result.data = dir + "/data";
    if (auto cleared = clear_data(result); !cleared) return unexpected(cleared.error());
  }
  if (sealed) {
    if (auto key = provide_key(dir + "/" + kKeyFile); !key) return unexpected(key.error());
  }
  std::ofstream out(result.config, std::ios::trunc);
  out << "# A cluster on this machine. Any node of it can be run again by hand:\n"
      << "#   peal node --config " << result.config << " --name n1\n"
      << "cluster = \"" << cluster << "\"\n";
  if (rules.order != &order::default_engine()) out << "order = \"" << rules.order->name << "\"\n";
  if (on_disk) out << "data_dir = \"data\"\n";
  if (sealed) {
    out << "key_file = \"" << kKeyFile << "\"\n";
  } else {
    out << "insecure = true\n";
  }
  for (const auto& [key, value] : rules.options.all()) {
    const order::Option* option = order::find_option(key);
    if (value != option->normal) out << key << " = " << order::text_of(*option, value) << "\n";
  }
  if (rules.acceptors > 0) {
    out << config::acceptors_key() << " = [1";
    for (std::uint32_t number = 2; number <= rules.acceptors; ++number) out << ", " << number;
    out << "]\n";
  }
  for (const std::string& address : addresses) {
    result.names.push_back("n" + std::to_string(result.names.size() + 1));
    out << "\n[[nodes]]\nname = \"" << result.names.back() << "\"\naddress = \"" << address
        << "\"\n";
  }
  if (rules.domains > 1 || rules.outside) {
    const std::size_t inside = addresses.size() - (rules.outside ? 1 : 0);
    result.domains = write_domains(out, result.names, inside / rules.domains, rules.domains);
  }
  if (!rules.multicast || rules.streams) out << "\n[network]\n";
  if (!rules.multicast) out << "multicast = \"off\"\n";
  if (rules.streams) out << "data = \"streams\"\n";
  out.close();
  if (!out) return unexpected("cannot write " + quote(result.config));
  return result;
}

Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes, const LocalRules& rules) {
  const auto ports = free_port_pairs(nodes);
  if (ports.empty()) {
    return unexpected("not enough free ports on 127.0.0.1 between 20000 and 32000 for " +
                      counted(nodes, "node"));
  }
  std::vector<std::string> addresses;
  for (const std::uint16_t port : ports) {
    addresses.push_back("127.0.0.1:" + std::to_string(port));
  }
  // The port makes the name unique: clusters with equal names would have the same multicast group,
  // and receive each other's packets.
  return make_cluster(dir, cluster + "-" + std::to_string(ports.front()), addresses, rules);
}

Result<void, std::string> clear_data(const LocalCluster& cluster) {
  if (cluster.data.empty()) return {};
  std::error_code error;
  std::filesystem::remove_all(cluster.data, error);
  if (!error && ::mkdir(cluster.data.c_str(), 0700) == 0) return {};
  return unexpected("cannot make the folder " + quote(cluster.data) + " anew");
}

}  // namespace peal::cli
