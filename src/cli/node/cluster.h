// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "order/registry/registry.h"
#include "order/setup.h"

namespace peal::cli {

/// A domain of such a cluster.
struct LocalDomain {
  std::string name;                ///< d1, d2, …
  std::vector<std::string> nodes;  ///< names
  std::string groups;              ///< "*": all that no other domain has; else "d2*", …
};

/// The files and nodes of a cluster on this machine, for `peal up` and `peal bench`.
struct LocalCluster {
  std::string dir;
  std::string config;                ///< the path of the configuration file
  std::vector<std::string> names;    ///< n1, n2, …
  std::string data;                  ///< the folder of acceptors' logs; empty: no logs
  std::vector<LocalDomain> domains;  ///< none: all nodes are one
};

/// Whether a cluster's packets are sealed. The key file is DIR/peal.key, which is created if
/// missing.
enum class Sealed : std::uint8_t { yes, no };

/// Settings that all nodes of a LocalCluster share.
struct LocalRules {
  Sealed sealed = Sealed::yes;
  const order::Descriptor* order = &order::default_engine();
  order::OptionValues options{};  ///< options of the engine
  bool multicast = true;          ///< use multicast if it works; false: send a copy to each node
  bool streams = false;           ///< data packets use TCP
  /// For an engine on quorums: the number of acceptors. The first nodes are the acceptors. 0: the
  /// engine chooses the number.
  std::uint32_t acceptors = 0;
  /// For an engine with genuine multicast: into how many domains of equal size the nodes are
  /// divided.
  std::uint32_t domains = 1;
  bool outside = false;  ///< the last node is in no domain: it only sends
};

/// Writes DIR/peal.toml for nodes at `addresses`. If the engine needs a log on disk, acceptors keep
/// their logs in DIR/data. This folder is created anew: logs of an earlier cluster are removed. The
/// error is one line.
Result<LocalCluster, std::string> make_cluster(const std::string& dir, const std::string& cluster,
                                               const std::vector<std::string>& addresses,
                                               const LocalRules& rules);

/// As make_cluster(), for nodes at free ports of the loopback interface. The first port becomes a
/// part of the cluster's name.
Result<LocalCluster, std::string> make_local_cluster(const std::string& dir,
                                                     const std::string& cluster,
                                                     std::uint32_t nodes, const LocalRules& rules);

/// Removes the logs of all acceptors of the cluster. No node of the cluster may run.
Result<void, std::string> clear_data(const LocalCluster& cluster);

}  // namespace peal::cli
