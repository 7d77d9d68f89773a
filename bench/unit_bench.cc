// SPDX-License-Identifier: Apache-2.0
// The cost of each message on its way from the application into a packet, and from a packet to the
// application.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "member/event_queue.h"
#include "node/packer.h"
#include "node/submit_queue.h"
#include "node/unit.h"

namespace peal {
namespace {

constexpr std::uint32_t kUnitBytes = 1'344;

void count_messages(benchmark::State& state, std::int64_t each) {
  state.SetItemsProcessed(state.iterations() * each);
}

/// Packs messages from the queue into units. state.range: size of a message in bytes.
void pack_messages(benchmark::State& state) {
  constexpr std::int64_t kMessages = 64;
  node::SubmitQueue queue{node::Limits{}};
  BufferPool pool(2'048, 256);
  node::SubmitQueue control{node::Limits{}};
  node::Packer packer(queue, control, pool, false);
  const std::vector<std::byte> payload(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::int64_t i = 0; i < kMessages; ++i) {
      if (!queue.push(payload, Service::agreed)) state.SkipWithError("no room");
    }
    order::Unit unit;
    node::Packed packed;
    while (packer.next(kUnitBytes, unit, packed)) {
      benchmark::DoNotOptimize(unit.bytes.data());
      queue.pop(packed.completed);
    }
  }
  count_messages(state, kMessages);
}
BENCHMARK(pack_messages)->Arg(10)->Arg(100)->Arg(1'300)->Arg(10'000);

/// Decodes a full unit. state.range: size of a message in the unit, in bytes.
void unpack_a_unit(benchmark::State& state) {
  std::vector<std::byte> bytes(kUnitBytes);
  const std::vector<std::byte> payload(static_cast<std::size_t>(state.range(0)));
  node::UnitWriter writer(bytes, 1);
  std::int64_t messages = 0;
  while (writer.room() >= node::kWholeHeaderBytes + payload.size()) {
    writer.add_whole(Service::agreed, payload);
    ++messages;
  }
  const ByteView unit = ByteView(bytes).first(writer.size());
  node::Chunks chunks;
  for (auto _ : state) {
    if (node::decode_unit(unit, Service::agreed, 1 << 20, chunks) != wire::Drop::none) {
      state.SkipWithError("a unit was refused");
    }
  }
  count_messages(state, messages);
}
BENCHMARK(unpack_a_unit)->Arg(10)->Arg(100)->Arg(1'300);

/// Passes a unit from the loop's thread to the reader's thread. In this benchmark, one thread does
/// both.
void hand_a_unit_to_the_reader(benchmark::State& state) {
  BufferPool pool(2'048, 64);
  member::EventQueue queue(1'024, 64, 16 << 20, kUnitBytes);
  for (auto _ : state) {
    member::Entry entry;
    entry.unit.unit = pool.take(0, kUnitBytes);
    queue.push(std::move(entry));
    queue.publish();
    benchmark::DoNotOptimize(queue.front());
    queue.pop();
  }
  count_messages(state, 1);
}
BENCHMARK(hand_a_unit_to_the_reader);

}  // namespace
}  // namespace peal
