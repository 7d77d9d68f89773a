// SPDX-License-Identifier: Apache-2.0
// The memories of real processes keep the promises of port::Memory.
#include "conformance.h"

#include "fabrics.h"

namespace peal::test {
namespace {

WorldMaker world_on(const char* name, io::fabric::Choice choice, bool is_sealed) {
  return {name, [=] { return std::make_unique<io::fabric::test::FabricWorld>(choice, is_sealed); }};
}

INSTANTIATE_TEST_SUITE_P(Fabrics, MemoryConformance,
                         testing::Values(world_on("shm", io::fabric::Choice::shm, true),
                                         world_on("tcp", io::fabric::Choice::tcp, true),
                                         world_on("automatic", io::fabric::Choice::automatic, true),
                                         world_on("open_shm", io::fabric::Choice::shm, false),
                                         world_on("open_tcp", io::fabric::Choice::tcp, false)),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace peal::test
