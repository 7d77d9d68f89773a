// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/inspection/inspection.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "order/paxos/inspection/ghost.h"
#include "order/paxos/inspection/inspection.h"
#include "order/ridge/layout.h"

namespace peal::order::ridge {
namespace {

std::unique_ptr<Ghost> make_ghost(const GhostSetup& setup, const GhostReport& report) {
  const bool labelled = setup.ensembles > 1 || setup.domains > 0;
  std::vector<std::uint64_t> clusters;
  for (std::uint32_t i = 0; i < setup.ensembles + setup.domains; ++i) {
    clusters.push_back(labelled ? ensemble_cluster(setup.cluster, i) : setup.cluster);
  }
  return std::make_unique<paxos::GhostEnsembles>(clusters, labelled, setup.on_disk, report);
}

}  // namespace

constinit const Inspection kInspection{.engine = "ridge",
                                       .packets = paxos::kPacketNames,
                                       .content = &paxos::content_of,
                                       .make_ghost = &make_ghost};

}  // namespace peal::order::ridge
