// SPDX-License-Identifier: Apache-2.0
// memory_seeds FOLDER: writes the seeds of fuzz_memory: the golden records. Run it from the top of
// the source tree.
#include <string>
#include <vector>

#include "golden.h"
#include "seeds.h"

namespace peal::wire::test {
namespace {

/// A record, and the number by which fuzz_memory knows its kind.
struct SeedRecord {
  const char* name;
  unsigned what;
};
constexpr SeedRecord kSeedRecords[] = {
    {"v1-slot", 0},          {"v1-slot-largest", 0},   {"v1-log-proposal", 1},
    {"v1-log-base", 1},      {"v1-log-base-view", 1},  {"v1-log-base-sender", 1},
    {"v1-log-base-end", 1},  {"v1-log-active", 1},     {"v1-log-view", 1},
    {"v1-log-commit", 1},    {"v1-log-pad", 1},        {"v1-log-proposal-unit", 1},
    {"v1-cell-proposal", 2}, {"v1-cell-ack", 2},       {"v1-cell-committed", 2},
    {"v1-control", 3},       {"v1-control-leader", 3}, {"v1-release", 4},
    {"v1-reply", 5},
};
constexpr std::byte kSecondDomain{1};  // of v1-slot

bool write_records(fuzz::Folder folder) {
  for (const SeedRecord& each : kSeedRecords) {
    const Golden golden = load_golden(std::string("memory/") + each.name);
    std::vector<std::byte> seed{static_cast<std::byte>(each.what), kSecondDomain};
    seed.insert(seed.end(), golden.bytes.begin(), golden.bytes.end());
    if (!folder.write(each.name, seed)) return false;
  }
  return true;
}

}  // namespace

int write_memory_seeds(int count, char** arguments) {
  return fuzz::seeds_main("memory_seeds", count, arguments, write_records);
}

}  // namespace peal::wire::test

int main(int count, char** arguments) {
  return peal::wire::test::write_memory_seeds(count, arguments);
}
