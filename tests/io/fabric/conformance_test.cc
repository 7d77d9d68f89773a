// SPDX-License-Identifier: Apache-2.0
// The memories of real processes keep the promises of port::Memory.
#include "conformance.h"

#include "fabrics.h"

namespace peal::test {
namespace {

WorldMaker world_on(const char* name, io::fabric::Choice choice, bool is_sealed) {
  return {name, [=] { return std::make_unique<io::fabric::test::FabricWorld>(choice, is_sealed); }};
}

std::vector<WorldMaker> worlds() {
  using io::fabric::Choice;
  std::vector<WorldMaker> all{
      world_on("shm", Choice::shm, true), world_on("tcp", Choice::tcp, true),
      world_on("automatic", Choice::automatic, true), world_on("open_shm", Choice::shm, false),
      world_on("open_tcp", Choice::tcp, false)};
  if (io::fabric::test::verbs_address()) all.push_back(world_on("verbs", Choice::verbs, true));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, MemoryConformance, testing::ValuesIn(worlds()),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace peal::test
