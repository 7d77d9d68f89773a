// SPDX-License-Identifier: Apache-2.0
// The simulated memory keeps the promises that real ones keep.
#include <map>

#include "conformance.h"
#include "sim/world/fabric.h"

namespace peal::test {
namespace {

class SimulatedWorld final : public MemoryWorld {
 public:
  port::Memory& of(const MemberId& member) override { return *memories_.at(member); }
  void flush(const MemberId& member) override { memories_.at(member)->flush(); }
  void turn() override {
    const Instant limit = schedule_.now() + microseconds(2);
    while (const auto planned = schedule_.advance(limit)) schedule_.take_action(planned->a)();
  }
  bool may_wait() override { return schedule_.now() < limit_; }
  void start(const MemberId& member) override {
    memories_[member] = fabric_.attach(member, [] {});
  }
  void stop(const MemberId& member) override { memories_.erase(member); }
  void limit(std::size_t bytes) override { memories_.at(kOwner)->limit(bytes); }

 private:
  sim::Schedule schedule_;
  sim::Fabric fabric_{schedule_, 1, {}};
  Instant limit_ = schedule_.now() + seconds(1);
  std::map<MemberId, std::unique_ptr<sim::SimMemory>> memories_;
};

INSTANTIATE_TEST_SUITE_P(Simulated, MemoryConformance,
                         testing::Values(WorldMaker{
                             "simulated", [] { return std::make_unique<SimulatedWorld>(); }}),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace peal::test
