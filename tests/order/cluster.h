// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order/engine.h"
#include "order/ring/options.h"
#include "wire/frames.h"

namespace peal::order::test {

/// A packet in flight, with its sender and its receiver.
struct Flight {
  std::uint32_t from = 0, to = 0;  // indexes of nodes
  wire::FrameKind kind{};
  std::vector<std::byte> bytes;
};

/// What a node delivers to its application, as text: "view ab", "trans a", "1:x" (position:unit);
/// "t1:x" in a transitional view.
using Log = std::vector<std::string>;

/// A few engines on a network with a constant delay, in one thread and virtual time. `filter` is
/// called with each packet that is sent; if `filter` returns false, the packet is lost.
class Cluster {
 public:
  /// Makes the engine of the node `self`. `universe`: all nodes.
  using Make = std::function<std::unique_ptr<Engine>(
      const MemberId& self, const std::vector<NodeId>& universe, BufferPool& pool, Host& host)>;
  /// Of engines that `make` makes.
  Cluster(Make make, std::uint32_t nodes);
  /// Of ring engines.
  Cluster(std::uint32_t nodes, const ring::Options& options);
  ~Cluster();

  void start(std::uint32_t node);
  void start_all();
  void crash(std::uint32_t node);
  void leave(std::uint32_t node);
  /// Notifies the engine that its process did not run for `gap`, and then that the process has read
  /// all packets that arrived meanwhile.
  void pause(std::uint32_t node, Duration gap);
  /// The epoch that the next started node gets.
  void set_next_epoch(std::uint64_t epoch) { next_epoch_ = epoch; }
  void submit(std::uint32_t node, const std::string& text, Service service = Service::agreed);
  /// Queues a message without notifying the engine.
  void preload(std::uint32_t node, const std::string& text, Service service = Service::agreed);
  /// Notifies the engine of queued messages.
  void poke(std::uint32_t node);
  void set_nodes(std::uint32_t node, const NodeList& nodes);
  /// Hash of the node's active list.
  std::uint64_t list(std::uint32_t node) const;
  /// Runs for a span of virtual time.
  void run(Duration span);
  /// Runs until done() is true, at most for `span`. Returns the last result of done().
  bool run_until(const std::function<bool()>& done, Duration span);
  /// True when all started nodes are in one view of `members` members.
  bool in_view_of(std::size_t members) const;

  Engine& engine(std::uint32_t node);
  const Log& log(std::uint32_t node) const;
  std::uint64_t counter(std::uint32_t node, std::string_view name) const;
  /// How many events of this kind the node reported.
  std::uint64_t events(std::uint32_t node, const EventKind* kind) const;
  /// The last event of this kind that the node reported.
  std::optional<Event> last_event(std::uint32_t node, const EventKind* kind) const;
  /// Whether the last view of the node claims to be primary.
  Primary primary(std::uint32_t node) const;
  Instant now() const { return now_; }
  void set_room(std::uint32_t node, std::uint32_t units);
  /// Buffers that are in use, by packets and units of all nodes.
  std::uint32_t buffers_held() const { return pool_.slab_count() - pool_.free_count(); }
  /// Passes bytes to a node as if they had arrived from the network.
  void inject(std::uint32_t node, ByteView bytes);
  /// Notifies the node that a packet of an incarnation older than `newest` arrived and was refused.
  void refuse_older(std::uint32_t node, const MemberId& newest);

  std::function<bool(const Flight&)> filter = [](const Flight&) { return true; };
  std::function<void(const Flight&)> on_sent = [](const Flight&) {};

 private:
  struct Node;
  void enqueue(std::uint32_t from, std::uint32_t to, const BufferRef& packet);
  bool step(Instant limit);

  Make make_;
  BufferPool pool_{4096, 8192};
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::pair<std::int64_t, std::uint64_t>, Flight> network_;
  std::uint64_t next_number_ = 0;
  std::uint64_t next_epoch_ = 100;
  Instant now_{1'000'000'000};
};

/// Creates a cluster and runs it until all its nodes are in one view.
std::unique_ptr<Cluster> formed(std::uint32_t nodes, const ring::Options& options = {});

}  // namespace peal::order::test
