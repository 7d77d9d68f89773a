// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "sim/world/faults.h"

namespace peal::sim {
namespace {

struct FaultRow {
  std::string_view name;
  std::string_view text;
};
constexpr std::array<FaultRow, kFaults> kFaultRows{{
#define PEAL_FAULT_ROW(id, text) {#id, text},
    PEAL_FAULTS(PEAL_FAULT_ROW)
#undef PEAL_FAULT_ROW
}};

}  // namespace

std::string_view fault_name(Fault fault) {
  return kFaultRows[static_cast<std::size_t>(fault)].name;
}
std::string_view fault_text(Fault fault) {
  return kFaultRows[static_cast<std::size_t>(fault)].text;
}

}  // namespace peal::sim
