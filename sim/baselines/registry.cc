// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/registry.h"

#include <vector>

#include "order/registry/inspection/inspections.h"
#include "order/registry/registry.h"
#include "sim/baselines/literal/engine.h"
#include "sim/baselines/skeen/engine.h"
#include "sim/baselines/whitebox/engine.h"

namespace peal::sim {

std::span<const order::Descriptor* const> baselines() {
  static constexpr const order::Descriptor* kBaselines[] = {&genuine::whitebox::kDescriptor,
                                                            &genuine::skeen::kDescriptor,
                                                            &genuine::literal::kDescriptor};
  return kBaselines;
}

std::span<const order::Inspection* const> baseline_inspections() {
  static constexpr const order::Inspection* kInspections[] = {&genuine::whitebox::kInspection,
                                                              &genuine::skeen::kInspection,
                                                              &genuine::literal::kInspection};
  return kInspections;
}

bool needs_links(const order::Descriptor& engine) {
  return &engine == &genuine::literal::kDescriptor;
}

const order::Descriptor* find_engine(std::string_view name) {
  for (const order::Descriptor* each : baselines()) {
    if (each->name == name) return each;
  }
  return order::find_engine(name);
}

const order::Inspection* find_inspection(std::string_view engine) {
  for (const order::Inspection* each : baseline_inspections()) {
    if (each->engine == engine) return each;
  }
  return order::find_inspection(engine);
}

std::string engine_names() {
  std::vector<const order::Descriptor*> all(order::engines().begin(), order::engines().end());
  all.insert(all.end(), baselines().begin(), baselines().end());
  return order::engine_names(all);
}

}  // namespace peal::sim
