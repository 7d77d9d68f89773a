// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "order/registry/inspection/inspections.h"

namespace peal::order {

const Inspection* find_inspection(std::string_view engine) {
  const auto all = inspections();
  const auto found = std::find_if(
      all.begin(), all.end(), [engine](const Inspection* each) { return each->engine == engine; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace peal::order
