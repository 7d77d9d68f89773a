// SPDX-License-Identifier: Apache-2.0
// The cost of sealing, opening and refusing a packet, and of deriving a subkey.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "seal/opener.h"
#include "seal/sealer.h"

namespace peal::seal {
namespace {

Keys keys() {
  Keys keys;
  keys.all.push_back(make_key(Secret{}, "2026-11-22T09:00:00Z"));
  keys.sending = keys.all[0].id;
  return keys;
}

Sealer sealer() { return {keys(), 7, {{{1}, 5}, Salt{}}}; }
Opener opener() {
  const std::vector<NodeId> senders = {{1}, {2}};
  return {keys(), 7, {{2}, 5}, senders};
}

std::size_t plain_bytes(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}
void note_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// Seals a first packet, which introduces the sender, and opens it at the receiver.
bool meet(Sealer& from, Opener& to) {
  std::vector<std::byte> hello(overhead(Lane::control));
  return from.seal(Lane::control, {}, {}, hello) && to.open(hello).reason == Refusal::none;
}

void aead_seal(benchmark::State& state) {
  Sealer from = sealer();
  std::vector<std::byte> packet(plain_bytes(state) + overhead(Lane::data));
  const ByteSpan plain = ByteSpan(packet).subspan(headroom(Lane::data), plain_bytes(state));
  for (auto _ : state) {
    if (!from.seal(Lane::data, {}, plain, packet)) state.SkipWithError("not sealed");
    benchmark::ClobberMemory();
  }
  note_bytes(state);
}
BENCHMARK(aead_seal)->Arg(100)->Arg(1'440)->Arg(8'900);

/// A packet can be opened only once, so each iteration seals a packet and opens it. The difference
/// to aead_seal is the cost of opening.
void aead_seal_and_open(benchmark::State& state) {
  Sealer from = sealer();
  Opener to = opener();
  if (!meet(from, to)) state.SkipWithError("not met");
  std::vector<std::byte> packet(plain_bytes(state) + overhead(Lane::data));
  const ByteSpan plain = ByteSpan(packet).subspan(headroom(Lane::data), plain_bytes(state));
  for (auto _ : state) {
    const bool good =
        from.seal(Lane::data, {}, plain, packet) && to.open(packet).reason == Refusal::none;
    if (!good) state.SkipWithError("a sealed packet was refused");
  }
  note_bytes(state);
}
BENCHMARK(aead_seal_and_open)->Arg(100)->Arg(1'440)->Arg(8'900);

void aead_refuse_false_tag(benchmark::State& state) {
  Sealer from = sealer();
  Opener to = opener();
  if (!meet(from, to)) state.SkipWithError("not met");
  std::vector<std::byte> packet(plain_bytes(state) + overhead(Lane::data));
  const ByteSpan plain = ByteSpan(packet).subspan(headroom(Lane::data), plain_bytes(state));
  if (!from.seal(Lane::data, {}, plain, packet)) state.SkipWithError("not sealed");
  packet.back() ^= std::byte{1};
  for (auto _ : state) {
    if (to.open(packet).reason != Refusal::bad_tag) state.SkipWithError("not refused");
  }
  note_bytes(state);
}
BENCHMARK(aead_refuse_false_tag)->Arg(100)->Arg(1'440)->Arg(8'900);

void aead_refuse_replay(benchmark::State& state) {
  Sealer from = sealer();
  Opener to = opener();
  std::vector<std::byte> packet(overhead(Lane::control));
  const bool good =
      from.seal(Lane::control, {}, {}, packet) && to.open(packet).reason == Refusal::none;
  if (!good) state.SkipWithError("a sealed packet was refused");
  for (auto _ : state) {
    if (to.open(packet).reason != Refusal::replayed) state.SkipWithError("not refused");
  }
}
BENCHMARK(aead_refuse_replay);

void aead_refuse_invented_incarnation(benchmark::State& state) {
  Sealer from = sealer();
  Opener to = opener();
  std::vector<std::byte> packet(overhead(Lane::control));
  if (!from.seal(Lane::control, {}, {}, packet)) state.SkipWithError("not sealed");
  packet[26] ^= std::byte{1};  // a byte of the sender's epoch
  for (auto _ : state) {
    if (to.open(packet).reason != Refusal::bad_badge) state.SkipWithError("not refused");
  }
}
BENCHMARK(aead_refuse_invented_incarnation);

void aead_derive_subkey(benchmark::State& state) {
  const KeySchedule schedule(keys().all[0], 7);
  Incarnation incarnation{{{1}, 5}, Salt{}};
  for (auto _ : state) {
    ++incarnation.member.epoch;
    GcmOpener opened(schedule.subkey_of(incarnation));
    benchmark::DoNotOptimize(opened);
  }
}
BENCHMARK(aead_derive_subkey);

}  // namespace
}  // namespace peal::seal
