// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "order/ramcast/engine.h"
#include "sim/world/fabric.h"

// Engines of RamCast on the simulated memory, without nodes: for tests of the protocol alone. What
// they deliver is checked as it happens.

namespace peal::order::ramcast::test {

/// What a world is made of.
struct Shape {
  std::vector<std::uint32_t> domains{3};  ///< nodes of each domain
  std::uint32_t outsiders = 0;            ///< nodes that only send
  Options options{};
  sim::FabricOptions fabric{};
  double packet_loss = 0;
  Duration packet_least = microseconds(20), packet_most = microseconds(60);
  Duration reaction_most{};             ///< from a notice to the engine's turn
  std::vector<std::uint64_t> clocks{};  ///< with which each domain's servers begin; else 0
};

/// One message, as its sender submitted it.
struct Sent {
  MemberId sender{};
  std::uint32_t number = 0;  ///< among those of the sender's incarnation, from 1
  Domain domain = 0;         ///< see Host::next_domain()
  std::uint32_t bytes = 0;
  Seq after = 0;  ///< the largest key that its sender had delivered or was told when it was pulled
};

/// A cluster of engines, in one thread and virtual time.
class World {
 public:
  static constexpr std::uint64_t kCluster = 77;

  World(const Shape& shape, std::uint64_t seed);
  ~World();

  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  /// Nodes have the indexes 0 to nodes() - 1: those of the first domain first, outsiders last.
  void start(std::uint32_t node);
  void start_all();
  void crash(std::uint32_t node);
  bool is_up(std::uint32_t node) const;
  /// The process does nothing until it is resumed.
  void pause(std::uint32_t node);
  void resume(std::uint32_t node);
  void cut(std::uint32_t from, std::uint32_t to);
  /// What `from` writes into this region of `to` is lost.
  void cut(std::uint32_t from, std::uint32_t to, Area region);
  void heal_all();
  /// Packets between nodes are lost from now on with this probability.
  void set_loss(double loss) { loss_ = loss; }

  void submit(std::uint32_t node, Domain domain, std::uint32_t bytes);
  void run(Duration span);
  /// Runs until done() is true, at most for `span`. Returns the last result of done().
  template <class Done>
  bool run_until(Done done, Duration span) {
    const Instant limit = schedule_.now() + span;
    while (!done()) {
      if (!step(limit)) return done();
    }
    return true;
  }

  RamcastEngine& engine(std::uint32_t node);
  sim::Fabric& fabric() { return fabric_; }
  const Layout& layout() const { return *layout_; }
  Instant now() const { return schedule_.now(); }
  /// The node that leads the domain and may deliver, if there is one.
  std::optional<std::uint32_t> leader(unsigned domain) const;
  /// All running servers are in one view per domain, with all running servers of the domain.
  bool is_settled() const;
  /// All messages of running senders have their places and are delivered by all running servers of
  /// their domains.
  bool is_quiet() const;
  std::uint64_t delivered(std::uint32_t node) const;
  /// Keys that the running incarnation of the node delivered, in their order.
  const std::vector<Seq>& keys(std::uint32_t node) const;
  /// Keys that the running incarnation was told with originate().
  const std::vector<Seq>& places(std::uint32_t node) const;
  std::size_t backlog(std::uint32_t node) const;
  std::uint32_t buffers_held(std::uint32_t node) const;
  /// The engine has delivered a view without this node.
  bool is_outside(std::uint32_t node) const;
  /// The members of the node's view.
  std::vector<NodeId> view(std::uint32_t node) const;
  void set_room(std::uint32_t node, std::uint32_t units);
  /// Others than the engine use all buffers of the process but `free`.
  void take_buffers(std::uint32_t node, std::uint32_t free);
  void give_buffers(std::uint32_t node);
  /// Called for each packet that is sent.
  using Observer = std::function<void(std::uint32_t from, ByteView packet)>;
  void observe(Observer observer) { observer_ = std::move(observer); }
  /// Passes bytes to a node as if they had arrived.
  void inject(std::uint32_t node, ByteView bytes);

  /// Puts bytes into the memory of `to`, as if `from` had written them.
  void forge(std::uint32_t from, std::uint32_t to, Area area, std::uint64_t offset, ByteView bytes);
  /// What `from` has written into the memory of `to`.
  std::vector<std::byte> written(std::uint32_t from, std::uint32_t to, Area area,
                                 std::uint64_t offset, std::size_t bytes) const;
  /// A report of a bad record: by whom, of whom, and what for.
  struct BadRecord {
    std::uint32_t by = 0;
    MemberId who{};
    wire::Drop reason{};
    std::string_view region;
  };
  const std::vector<BadRecord>& bad_records() const { return bad_records_; }

  /// What is wrong with the history so far, or empty. Some properties are compared at the end only.
  std::string broken() const;
  /// A digest of everything that was delivered.
  std::uint64_t history() const { return history_.value(); }
  std::uint64_t packets() const { return packets_; }

 private:
  struct Node;
  class Output;

  void call(std::uint32_t node, const std::function<void(Node&, Output&)>& action);
  void wake(std::uint32_t node);
  void arm(std::uint32_t node);
  bool step(Instant limit);
  void send(std::uint32_t from, NodeId to, const BufferRef& packet);
  void on_delivery(Node& node, const Delivery& delivery);
  void on_view(Node& node, const View& view);
  void complain(const std::string& what);
  void check_holes(std::string& wrong) const;

  Shape shape_;
  Random random_;
  sim::Schedule schedule_;
  sim::Fabric fabric_;
  std::unique_ptr<Layout> layout_;
  std::vector<std::unique_ptr<Node>> nodes_;
  double loss_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> cuts_;
  std::map<std::pair<MemberId, std::uint32_t>, Sent> sent_;
  std::map<Seq, std::pair<MemberId, std::uint32_t>> by_key_;
  std::map<std::pair<MemberId, std::uint32_t>, Seq> key_of_;
  /// For each domain, the keys that any of its servers has delivered.
  std::vector<std::set<Seq>> delivered_;
  std::vector<std::set<Seq>> views_;  ///< the same for views that have been told to members
  /// What each incarnation of a server delivered: the key of its first view, and its keys.
  struct Life {
    unsigned domain = 0;
    /// Spans of keys in which it was a member: delivered everything in between.
    std::vector<std::pair<Seq, Seq>> spans;
    std::vector<Seq> keys;
  };
  std::map<MemberId, Life> lives_;
  std::string broken_;
  Observer observer_;
  std::vector<BadRecord> bad_records_;
  Digest history_;
  std::uint64_t packets_ = 0;
  std::uint64_t calls_ = 0;
};

/// A world whose domains are all in their first views.
std::unique_ptr<World> settled(const Shape& shape);

}  // namespace peal::order::ramcast::test
