// SPDX-License-Identifier: Apache-2.0
// The costs that each packet causes: checksum, header, buffer.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/buffer.h"
#include "base/crc32c.h"
#include "wire/frames.h"

namespace peal {
namespace {

constexpr std::uint32_t kPacketBytes = 1'472;

void note_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void checksum(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{42});
  for (auto _ : state) benchmark::DoNotOptimize(crc32c(bytes));
  note_bytes(state, bytes.size());
}
BENCHMARK(checksum)->Arg(64)->Arg(1'400)->Arg(kPacketBytes)->Arg(8'972);

void take_and_return_a_buffer(benchmark::State& state) {
  BufferPool pool(2'048, 1'024);
  for (auto _ : state) benchmark::DoNotOptimize(pool.take(128, 1'344));
}
BENCHMARK(take_and_return_a_buffer);

wire::Header header(wire::FrameKind kind) {
  wire::Header header;
  header.kind = kind;
  header.cluster = 7;
  header.sender = {{1}, 10};
  return header;
}

wire::Data data() {
  wire::Data data;
  data.view = {3, {{1}, 10}};
  data.seq = 1'000;
  data.hop = 99;
  data.origin = {{1}, 10};
  data.service = Service::agreed;
  return data;
}

void seal_a_data_packet(benchmark::State& state) {
  std::vector<std::byte> packet(kPacketBytes, std::byte{42});
  for (auto _ : state) {
    wire::encode_data_in_place(header(wire::FrameKind::data), data(), packet);
    benchmark::ClobberMemory();
  }
  note_bytes(state, packet.size());
}
BENCHMARK(seal_a_data_packet);

void open_a_data_packet(benchmark::State& state) {
  std::vector<std::byte> packet(kPacketBytes, std::byte{42});
  wire::encode_data_in_place(header(wire::FrameKind::data), data(), packet);
  for (auto _ : state) {
    wire::Header opened;
    wire::Data content;
    const bool good = wire::decode_header(packet, opened) == wire::Drop::none &&
                      wire::decode_data(packet, content) == wire::Drop::none;
    if (!good) state.SkipWithError("a sealed packet was refused");
  }
  note_bytes(state, packet.size());
}
BENCHMARK(open_a_data_packet);

void seal_and_open_a_token(benchmark::State& state) {
  std::vector<std::byte> packet(wire::kPacketBytesMax);
  wire::Token token;
  token.view = {3, {{1}, 10}};
  token.seq = token.aru = 1'000;
  token.hop = 99;
  for (auto _ : state) {
    const std::size_t size = wire::encode_token(header(wire::FrameKind::token), token, packet);
    wire::Header opened;
    wire::Token content;
    const ByteView sealed = ByteView(packet).first(size);
    const bool good = wire::decode_header(sealed, opened) == wire::Drop::none &&
                      wire::decode_token(sealed, content) == wire::Drop::none;
    if (!good) state.SkipWithError("a sealed token was refused");
  }
}
BENCHMARK(seal_and_open_a_token);

}  // namespace
}  // namespace peal
