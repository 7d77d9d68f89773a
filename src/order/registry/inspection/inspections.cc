// SPDX-License-Identifier: Apache-2.0
#include "order/registry/inspection/inspections.h"

#include "order/paxos/inspection/inspection.h"
#include "order/ramcast/inspection/inspection.h"
#include "order/ridge/inspection/inspection.h"
#include "order/ring/inspection/inspection.h"
#include "order/toto/inspection/inspection.h"

namespace peal::order {

std::span<const Inspection* const> inspections() {
  static constexpr const Inspection* kInspections[] = {&ring::kInspection, &paxos::kInspection,
                                                       &ridge::kInspection, &toto::kInspection,
                                                       &ramcast::kInspection};
  return kInspections;
}

}  // namespace peal::order
