// SPDX-License-Identifier: Apache-2.0
// The time of a write to another process's memory and of its answer, by each fabric: while both
// processes poll, and while both sleep and are woken up; and that of a datagram and its answer.
// Both are threads of this program, with a loop or a socket each.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/fabric/fabric.h"

namespace peal::io::fabric {
namespace {

constexpr MemberId kFirst{{1}, 1};
constexpr MemberId kSecond{{2}, 1};
constexpr std::uint8_t kNumber = 1;

/// Exposes a region to its peer, and notes the number that it finds at its end: the whole write has
/// come. An echo says it again, with as many bytes.
class Talker final : public LoopHost {
 public:
  enum class Role : std::uint8_t { asks, echoes };
  Talker(Options options, const MemberId& peer, Waiting waiting, Role role, std::size_t bytes)
      : peer_(peer), role_(role), said_(bytes), seen_(bytes) {
    LoopOptions loop_options;
    loop_options.waiting = waiting;
    loop_ = std::move(*Loop::open(loop_options));
    fabric_ = std::move(*Fabric::open(std::move(options)));
    is_good_ = fabric_->attach(*loop_).has_value() &&
               fabric_->expose({peer, kNumber}, {1}, bytes).has_value();
  }
  void say(std::uint64_t number) {
    store(ByteSpan(said_).last(sizeof number), number);
    fabric_->write({peer_, kNumber, {1}, 0}, said_, number);
    if (role_ == Role::asks) fabric_->flush(Clock::now());  // no turn runs that would end
  }
  std::uint64_t heard() const { return heard_; }
  bool is_good() const { return is_good_; }
  void turn() { loop_->turn(*this, milliseconds(100)); }
  Loop& loop() { return *loop_; }

  void on_pause(Instant, Duration) override {}
  Progress on_sockets(const Turn& turn) override {
    const bool more = fabric_->receive(turn.now);
    if (fabric_->take_news()) on_memory();
    return {more, true};
  }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant now) override { fabric_->flush(now); }
  std::optional<Instant> next_deadline() const override { return fabric_->next_deadline(); }

 private:
  void on_memory() {
    port::WriteDone done;
    while (fabric_->next_done(done)) {
      if (done.end != port::WriteEnd::ok) is_good_ = false;
    }
    if (!fabric_->load({peer_, kNumber}, 0, seen_)) return;
    const auto number = peal::load<std::uint64_t>(ByteView(seen_).last(sizeof heard_));
    if (number <= heard_) return;
    heard_ = number;
    if (role_ == Role::echoes) say(number);
  }

  MemberId peer_;
  Role role_;
  std::vector<std::byte> said_, seen_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Fabric> fabric_;
  std::uint64_t heard_ = 0;
  bool is_good_ = true;
};

Options options_of(const std::string& folder, Choice choice, NodeId self, NodeId peer) {
  const auto port_of = [](NodeId node) { return static_cast<std::uint16_t>(4'960 + node.value); };
  const auto socket_of = [&](NodeId node) { return folder + "/" + std::to_string(node.value); };
  Options options;
  options.self = {self, 1};
  options.cluster = 1;
  options.choice = choice;
  options.at = Endpoint::v4(127, 99, 0, 1, port_of(self));
  options.socket = socket_of(self);
  options.peers = {{peer, Endpoint::v4(127, 99, 0, 1, port_of(peer)), socket_of(peer)}};
  seal::Keys keys;
  keys.all.push_back(seal::make_key(seal::Secret{}, "2026-11-29T09:00:00Z"));
  keys.sending = keys.all[0].id;
  options.keys = keys;
  options.limits.hold = seconds(5);
  return options;
}

void fabric_round_trip(benchmark::State& state, Choice choice, Waiting waiting) {
  std::string folder = (std::filesystem::temp_directory_path() / "peal-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no folder");
  {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    Talker first(options_of(folder, choice, kFirst.node, kSecond.node), kSecond, waiting,
                 Talker::Role::asks, bytes);
    Talker second(options_of(folder, choice, kSecond.node, kFirst.node), kFirst, waiting,
                  Talker::Role::echoes, bytes);
    std::thread echo([&] { second.loop().run(second); });
    std::uint64_t number = 0;
    const auto round = [&] {
      first.say(++number);
      while (first.heard() < number) first.turn();
    };
    for (int i = 0; i < 100; ++i) round();
    for (auto _ : state) round();
    second.loop().stop();
    echo.join();
    if (!first.is_good() || !second.is_good()) state.SkipWithError("a write did not end as ok");
  }
  std::filesystem::remove_all(folder);
}
void by_size(benchmark::internal::Benchmark* each) {
  each->UseRealTime()->RangeMultiplier(4)->Range(64, 16 << 10)->Arg(32 << 10);
}
BENCHMARK_CAPTURE(fabric_round_trip, shm_polling, Choice::shm, Waiting::polling)->Apply(by_size);
BENCHMARK_CAPTURE(fabric_round_trip, shm_doorbell, Choice::shm, Waiting::adaptive)->Apply(by_size);
BENCHMARK_CAPTURE(fabric_round_trip, tcp_polling, Choice::tcp, Waiting::polling)->Apply(by_size);
BENCHMARK_CAPTURE(fabric_round_trip, tcp_asleep, Choice::tcp, Waiting::adaptive)->Apply(by_size);

/// A socket of its own, at the loopback interface.
class Datagrams {
 public:
  Datagrams() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_good_ = ::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  }
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;
  ~Datagrams() { ::close(socket_); }

  bool connect_to(const Datagrams& peer) const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    return is_good_ && ::getsockname(peer.socket_, address, &size) == 0 &&
           ::connect(socket_, address, size) == 0;
  }
  void send(ByteView bytes) const {
    if (::send(socket_, bytes.data(), bytes.size(), 0) < 0) std::abort();
  }
  /// True if a datagram has come. With `flags` 0, waits for it.
  bool receive(ByteSpan bytes, int flags) const {
    return ::recv(socket_, bytes.data(), bytes.size(), flags) > 0;
  }

 private:
  int socket_;
  bool is_good_ = false;
};

/// As fabric_round_trip, with a datagram each way. `flags` are those of recv().
void udp_round_trip(benchmark::State& state, int flags) {
  const Datagrams first, second;
  if (!first.connect_to(second) || !second.connect_to(first))
    return state.SkipWithError("no sockets");
  const std::vector<std::byte> said(static_cast<std::size_t>(state.range(0)));
  std::thread echo([&] {
    std::vector<std::byte> seen(said.size());
    while (true) {
      while (!second.receive(seen, flags)) {
      }
      if (seen.front() != std::byte{}) return;
      second.send(seen);
    }
  });
  std::vector<std::byte> seen(said.size());
  for (auto _ : state) {
    first.send(said);
    while (!first.receive(seen, flags)) {
    }
  }
  std::vector<std::byte> last(said.size(), std::byte{1});
  first.send(last);
  echo.join();
}
BENCHMARK_CAPTURE(udp_round_trip, polling, MSG_DONTWAIT)->Apply(by_size);
BENCHMARK_CAPTURE(udp_round_trip, asleep, 0)->Apply(by_size);

/// What a write costs its writer, 100 in a turn, while nobody reads.
void fabric_write(benchmark::State& state) {
  std::string folder = (std::filesystem::temp_directory_path() / "peal-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no folder");
  const auto bytes = static_cast<std::size_t>(state.range(0));
  {
    auto writer =
        std::move(*Fabric::open(options_of(folder, Choice::shm, kFirst.node, kSecond.node)));
    auto owner =
        std::move(*Fabric::open(options_of(folder, Choice::shm, kSecond.node, kFirst.node)));
    constexpr std::uint64_t kPlaces = 100;
    const std::vector<std::byte> content(bytes);
    if (!owner->expose({kFirst, kNumber}, {1}, kPlaces * bytes)) state.SkipWithError("no region");
    std::uint64_t ok = 0;
    const auto turn = [&] {
      for (std::uint64_t i = 0; i < kPlaces; ++i) {
        writer->write({kSecond, kNumber, {1}, i * bytes}, content, i);
      }
      writer->flush(Clock::now());
      port::WriteDone done;
      while (writer->next_done(done)) ok += done.end == port::WriteEnd::ok ? 1 : 0;
    };
    while (ok == 0) {
      turn();
      for (Fabric* each : {writer.get(), owner.get()}) each->receive(Clock::now());
    }
    for (auto _ : state) turn();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kPlaces));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kPlaces * bytes));
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(fabric_write)->Arg(64)->Arg(1'024)->Arg(32 << 10);

}  // namespace
}  // namespace peal::io::fabric
