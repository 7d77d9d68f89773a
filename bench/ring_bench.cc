// SPDX-License-Identifier: Apache-2.0
// The cost of the ring without sockets: all engines run in one thread and exchange packets
// directly. Each unit is ordered and sent once, and all members receive and deliver it.
#include <benchmark/benchmark.h>

#include <deque>
#include <memory>
#include <vector>

#include "order/engine.h"
#include "order/ring/options.h"
#include "wire/frames.h"

namespace peal::order {
namespace {

constexpr std::uint32_t kUnitBytes = 1'344;

class Cluster {
 public:
  explicit Cluster(std::uint32_t members) {
    ring::Config config;
    for (std::uint32_t i = 1; i <= members; ++i) config.universe.push_back({i});
    config.cluster = 7;
    for (std::uint32_t i = 0; i < members; ++i) {
      sites_.push_back(std::make_unique<Site>(*this, i));
      config.self = {{i + 1}, 10};
      config.seed = i;
      sites_.back()->engine = ring::make_engine(config, pool_, *sites_.back());
    }
    for (auto& site : sites_) site->engine->start(now_, *site);
  }
  ~Cluster() {
    for (auto& site : sites_) site->inbox.clear();
  }

  /// Runs until the first member is in a view of all members, for at most `turns` turns. Returns
  /// false if the member does not reach such a view.
  bool gather(int turns) {
    while (turns-- > 0 && sites_.front()->members < sites_.size()) turn();
    return sites_.front()->members == sites_.size();
  }
  /// Runs until the first member has delivered `units` more units.
  void deliver(std::uint64_t units) {
    const std::uint64_t end = sites_.front()->delivered + units;
    for (auto& site : sites_) site->engine->on_work(now_, *site);
    while (sites_.front()->delivered < end) turn();
  }

 private:
  struct Site final : Host, Effects {
    Site(Cluster& of, std::uint32_t at) : cluster(of), index(at) {}

    std::uint32_t backlog_units() const override { return 1'000; }
    bool next_unit(std::uint32_t, Unit& out) override {
      out.bytes = cluster.pool_.take(wire::kDataHeaderBytes, kUnitBytes);
      out.service = Service::agreed;
      return static_cast<bool>(out.bytes);
    }
    std::uint32_t receive_room_units() const override { return 10'000; }
    void send(NodeId to, Lane, const BufferRef& packet) override {
      cluster.sites_[to.value - 1]->inbox.push_back(packet);
    }
    void multicast(Lane, const BufferRef& packet) override {
      for (auto& site : cluster.sites_) {
        if (site->index != index) site->inbox.push_back(packet);
      }
    }
    void originate(const ViewId&, Seq) override {}
    void deliver(const Delivery&) override { ++delivered; }
    void install(const View& view) override { members = view.members.size(); }
    void report(const Event&) override {}
    void fatal(std::string_view) override {}

    Cluster& cluster;
    const std::uint32_t index;
    std::uint64_t delivered = 0;
    std::size_t members = 0;
    std::deque<BufferRef> inbox;
    std::unique_ptr<Engine> engine;
  };

  /// All members read their pending packets. If no packet is pending, time advances to the next
  /// timer.
  void turn() {
    bool moved = false;
    for (auto& site : sites_) {
      for (std::size_t left = site->inbox.size(); left > 0; --left) {
        const BufferRef packet = std::move(site->inbox.front());
        site->inbox.pop_front();
        site->engine->on_packet(now_, Lane::data, packet, *site);
        moved = true;
      }
    }
    now_ = now_ + microseconds(1);
    for (auto& site : sites_) {
      const auto due = site->engine->next_deadline();
      if (!due) continue;
      if (!moved) now_ = std::max(now_, *due);
      if (*due <= now_) site->engine->on_timer(now_, *site);
    }
  }

  BufferPool pool_{2'048, 60'000};
  std::vector<std::unique_ptr<Site>> sites_;
  Instant now_{1};
};

void order_and_deliver(benchmark::State& state) {
  constexpr std::uint64_t kUnits = 1'000;
  Cluster cluster(static_cast<std::uint32_t>(state.range(0)));
  if (!cluster.gather(1'000'000)) return state.SkipWithError("no view of all");
  cluster.deliver(20 * kUnits);  // give the windows time to adapt
  for (auto _ : state) cluster.deliver(kUnits);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kUnits));
}
BENCHMARK(order_and_deliver)->Arg(2)->Arg(3)->Arg(8)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace peal::order
