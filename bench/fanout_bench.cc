// SPDX-License-Identifier: Apache-2.0
// Sends messages of 1350 bytes to all local clients of a node: through one Unix socket for each
// client, or once through memory that all clients map. Measures the processor time of the writer
// and of all readers separately. The cost of waking a sleeping process is equal in both cases and
// is not measured.
#include <benchmark/benchmark.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "io/stream.h"

namespace peal::io {
namespace {

constexpr std::size_t kMessageBytes = 1'350;

struct Client {
  std::unique_ptr<Stream> near;
  std::unique_ptr<Stream> far;
  Fd bell;
};

std::vector<Client> make_clients(std::int64_t count) {
  std::vector<Client> clients;
  for (std::int64_t i = 0; i < count; ++i) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()) != 0) {
      return {};
    }
    clients.push_back({make_plain_stream(Fd(fds[0]), {}), make_plain_stream(Fd(fds[1]), {}),
                       Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))});
  }
  return clients;
}

/// Measures the processor time of writing and of reading separately.
class Split {
 public:
  void begin() { at_ = spent(); }
  void wrote() { written_ += lap(); }
  void read() { read_ += lap(); }
  void report(benchmark::State& state) const {
    const double deliveries = static_cast<double>(state.iterations()) *
                              static_cast<double>(state.range(0) * state.range(1));
    state.counters["write_ns"] = written_ * 1e9 / deliveries;
    state.counters["read_ns"] = read_ * 1e9 / deliveries;
    state.SetItemsProcessed(static_cast<std::int64_t>(deliveries));
  }

 private:
  static double spent() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  double lap() {
    const double before = std::exchange(at_, spent());
    return at_ - before;
  }
  double at_ = 0;
  double written_ = 0;
  double read_ = 0;
};

/// state.range: number of clients, and number of messages in one write.
void fanout_sockets(benchmark::State& state) {
  const auto clients = make_clients(state.range(0));
  if (clients.empty()) return state.SkipWithError("no sockets: raise the limit of descriptors");
  const std::vector<std::byte> message(kMessageBytes, std::byte{'x'});
  const std::vector<ByteView> batch(static_cast<std::size_t>(state.range(1)), message);
  const std::size_t bytes = batch.size() * kMessageBytes;
  std::vector<std::byte> buffer(bytes);
  Split split;
  for (auto _ : state) {
    split.begin();
    for (const Client& client : clients) {
      if (client.near->write(batch).bytes != bytes) state.SkipWithError("not written");
    }
    split.wrote();
    for (const Client& client : clients) {
      if (client.far->read(buffer).bytes != bytes) state.SkipWithError("not read");
    }
    split.read();
  }
  split.report(state);
}
BENCHMARK(fanout_sockets)->ArgsProduct({{1, 10, 100}, {1, 8, 48}});

/// Like fanout_sockets(), but with one copy into shared memory, and a wake-up for each client. A
/// reader copies the bytes out of the memory, because the writer overwrites them later.
void fanout_memory(benchmark::State& state) {
  const auto clients = make_clients(state.range(0));
  if (clients.empty()) return state.SkipWithError("no descriptors");
  constexpr std::size_t kRingBytes = 1U << 20;
  const Fd memory(::memfd_create("fanout", MFD_CLOEXEC));
  if (::ftruncate(memory.get(), kRingBytes) != 0) return state.SkipWithError("no memory");
  const auto map = [&](int protection) {
    return ::mmap(nullptr, kRingBytes, protection, MAP_SHARED, memory.get(), 0);
  };
  void* write_side = map(PROT_READ | PROT_WRITE);
  void* read_side = map(PROT_READ);
  if (write_side == MAP_FAILED || read_side == MAP_FAILED) return state.SkipWithError("no memory");
  auto* shared = static_cast<std::byte*>(write_side);
  const auto* seen = static_cast<const std::byte*>(read_side);
  const std::vector<std::byte> message(kMessageBytes, std::byte{'x'});
  const std::size_t bytes = static_cast<std::size_t>(state.range(1)) * kMessageBytes;
  std::vector<std::byte> buffer(bytes);
  std::size_t at = 0;
  std::uint64_t one = 1;
  Split split;
  for (auto _ : state) {
    at = at + bytes > kRingBytes ? 0 : at;
    split.begin();
    for (std::size_t i = 0; i < bytes; i += kMessageBytes) {
      std::memcpy(shared + at + i, message.data(), kMessageBytes);
    }
    for (const Client& client : clients) {
      if (::write(client.bell.get(), &one, sizeof one) < 0) state.SkipWithError("no bell");
    }
    split.wrote();
    for (const Client& client : clients) {
      std::uint64_t rung = 0;
      if (::read(client.bell.get(), &rung, sizeof rung) < 0) state.SkipWithError("no bell");
      std::memcpy(buffer.data(), seen + at, bytes);
      benchmark::ClobberMemory();
    }
    split.read();
    at += bytes;
  }
  split.report(state);
  ::munmap(write_side, kRingBytes);
  ::munmap(read_side, kRingBytes);
}
BENCHMARK(fanout_memory)->ArgsProduct({{1, 10, 100}, {1, 8, 48}});

}  // namespace
}  // namespace peal::io
