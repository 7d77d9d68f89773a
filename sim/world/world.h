// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "node/node.h"
#include "sim/clients/session_clients.h"
#include "sim/judge/history_recorder.h"
#include "sim/netmodel/model.h"
#include "sim/world/engine_options.h"
#include "sim/world/event_queue.h"
#include "sim/world/network.h"
#include "sim/world/node_log.h"
#include "sim/world/packet.h"
#include "sim/world/process.h"

// A cluster of whole nodes in one thread. Its network, clocks, processors and applications derive
// from one seed: the same seed and the same calls give the same run, bit by bit.

namespace peal::sim {

/// Makes the engine of one node.
using EngineMaker = std::function<std::unique_ptr<order::Engine>(
    MemberId self, std::span<const NodeId> universe, std::uint64_t seed, BufferPool& packets,
    order::Host& host)>;

struct WorldOptions {
  EngineOptions engine;
  std::vector<order::DomainNodes> domains;  ///< of engines with domains
  std::uint32_t nodes = 3;                  ///< 1 to kNodesMax
  /// The list of nodes in the file of each of them; empty: all, and it never changes.
  std::vector<NodeId> list;
  std::uint64_t seed = 1;
  std::uint32_t acceptors = 0;                           ///< 0: as many as the engine chooses
  DiskTimes disks;                                       ///< of acceptors
  std::uint64_t segment_bytes = NodeLog::kSegmentBytes;  ///< of their logs
  std::uint64_t first_count = 0;                         ///< see order::Setup
  EngineMaker maker;                                     ///< empty: `engine`
  node::Limits limits;
  ProcessLimits process;
  std::int32_t drift_ppm = 0;                     ///< largest error of clocks
  Duration step_cost = nanoseconds(700);          ///< processor time of one input
  Duration send_cost = nanoseconds(300);          ///< processor time of one packet sent
  Duration wire_per_kilobyte = nanoseconds(800);  ///< 10 Gbit/s
  std::uint32_t read_budget = 32;                 ///< packets read before timers are checked
  bool follow_preference = false;      ///< else the choice of the socket is partly random
  bool loopback = false;               ///< multicasts return to their senders
  bool fan_out = false;                ///< data multicasts go to the destinations one by one
  bool multicast = true;               ///< else every multicast goes to all other nodes one by one
  bool ghost = true;                   ///< see order/inspection
  bool keep_packets = true;            ///< store old packets for replay
  std::uint32_t digest_every = 1'000;  ///< planned events between digests of all nodes
  bool groups = false;                 ///< applications are clients of process groups
  bool sessions = false;               ///< these clients have sessions with their node
  bool keep_payloads = false;          ///< clients keep the payloads delivered to them, for queries
  /// Replaces `send_cost` and `wire_per_kilobyte` if present.
  std::optional<NetModelOptions> net;
};

/// Observes every packet sent, every event that a node reports and every message. It may plan
/// events, but not run the world.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_send(const Packet& packet, MemberId from) = 0;
  virtual void on_event(MemberId who, const order::Event& event) = 0;
  /// A message of `who` got its place in the order.
  virtual void on_originate(MemberId /*who*/) {}
  /// `who` delivered a message; the earlier work of the same step is done at `at`.
  virtual void on_message(Instant /*at*/, MemberId /*who*/, const node::Message& /*message*/) {}
  /// `who` delivered a message optimistically, before it has its place.
  virtual void on_early(Instant /*at*/, MemberId /*who*/, const node::Message& /*message*/) {}
};

/// A background load: each of its nodes submits messages at random times.
struct Load {
  std::vector<NodeId> nodes;
  double rate = 1'000;  ///< messages per second and node
  std::uint32_t size_low = 8, size_high = 200;
  double large = 0;  ///< share of messages of sizes large_low to large_high
  std::uint32_t large_low = 2'000, large_high = 20'000;
  double safe = 0.3;        ///< share of safe messages
  std::uint32_t burst = 1;  ///< most messages submitted at once
  Instant until{};
};

class World {
 public:
  World(const WorldOptions& options, HistoryRecorder& recorder);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Time.
  Instant now() const { return now_; }
  /// Executes the next planned event. False if none is planned before `limit`; the time is then
  /// `limit`.
  bool step(Instant limit);
  void run_until(Instant limit);
  /// Calls `action` at `at`, not before now.
  void plan(Instant at, std::function<void()> action);

  // Nodes. A command that the node's state does not allow has no effect.
  std::uint32_t nodes() const { return options_.nodes; }
  /// Starts a new incarnation; `epoch_step` is added to the epoch of a correct clock.
  void start(NodeId node, std::int64_t epoch_step = 0);
  void crash(NodeId node);
  /// The node crashes at its `sends`-th packet from now: 1 or more.
  void crash_after_sends(NodeId node, std::uint64_t sends);
  void pause(NodeId node, Duration length);
  void leave(NodeId node);
  /// Replaces the list of nodes in the node's file, sorted; a running node gets it. A node that the
  /// list in its own file does not name cannot be started.
  void set_list(NodeId node, const std::vector<NodeId>& list);
  const std::vector<NodeId>& list_of(NodeId node) const { return files_[node.value].nodes; }
  const order::NodeList& file_of(NodeId node) const { return files_[node.value]; }
  void tell_clients_list(Process& process);
  void check_primary(const Process& process, const order::View& view);
  /// All work of the node takes `times` as long.
  void set_slowness(NodeId node, std::int64_t times);
  void set_application(NodeId node, std::uint32_t room_units, Duration per_unit);
  /// The disk of an acceptor; null for other nodes.
  const NodeLog* disk(NodeId node) const {
    return logs_.empty() ? nullptr : logs_[node.value].get();
  }
  NodeLog* disk(NodeId node) { return logs_.empty() ? nullptr : logs_[node.value].get(); }
  /// Ends a hang of the disk.
  void end_hang(NodeId node);
  /// Ends failures and slowness of the disk.
  void mend_disk(NodeId node);
  /// Changes how fast the node's clock is, in parts per million; the clock never goes back.
  void set_clock_drift(NodeId node, std::int32_t drift_ppm);
  /// Restores the clock's first rate.
  void mend_clock(NodeId node) { set_clock_drift(node, first_drift_[node.value]); }
  /// The domains that the node learns: 0, and those that it belongs to.
  const std::vector<order::Domain>& domains_of(NodeId node) const;
  /// One of the node's domains, at random.
  order::Domain some_domain(NodeId node);
  /// The domain of a position.
  order::Domain domain_of(Seq position) const;
  /// Submits a message. With groups a client submits it, as `wish` says or else at random.
  void submit(NodeId node, Service service, std::string payload, order::Domain domain = 0,
              std::optional<ClientWish> wish = {});
  /// A payload that differs from all others.
  std::string make_payload(NodeId node, std::size_t bytes);
  void add_load(const Load& load);
  void stop_loads();
  bool is_up(NodeId node) const;
  /// The running incarnation, or null.
  Process* process(NodeId node) { return processes_[node.value].get(); }
  const Process* process(NodeId node) const { return processes_[node.value].get(); }

  // Network.
  Network& network() { return network_; }
  /// Sends an old packet of `kind` (any if absent) again. False if there is none.
  bool replay(std::optional<PacketKind> kind, Duration after);
  /// Lets packets that a rule holds arrive now.
  void release_held();
  /// Sends a packet of random bytes to `to`.
  void inject_random(NodeId to);
  enum class Harm : std::uint8_t { flipped, truncated };
  /// Sends an old packet of any kind to `to`, with a bit flipped or its end missing.
  void inject_harmed(NodeId to, Harm harm);
  /// Number of packets of this kind sent so far.
  std::uint64_t packets_of(PacketKind kind) const {
    return packets_by_kind_[static_cast<std::size_t>(kind)];
  }
  bool anyone_recovers() const;
  /// The network model, or null.
  const NetModel* model() const { return model_.get(); }
  /// When the last packet in transit arrives.
  Instant latest_arrival() const { return latest_arrival_; }

  /// The ghost, which knows more than any node; null if not wanted, or if the engine has none.
  order::Ghost* ghost() { return ghost_.get(); }
  void watch(Watcher* watcher) { watcher_ = watcher; }
  HistoryRecorder& recorder() { return recorder_; }
  const WorldOptions& options() const { return options_; }
  /// A digest of everything that has happened so far.
  std::uint64_t digest() const;

  // For Process.
  void transmit(Process& from, NodeId to, Lane lane, ByteView bytes);
  void reported(Process& from, const order::Event& event);
  bool open_log(MemberId self);
  std::unique_ptr<node::Node> make_node(Process& process);
  void originated(Process& from);
  void told(Process& process, const node::Message& message);
  void told_early(Process& process, const node::Message& message);
  /// Schedules clients->serve() for `at`; it runs when the process next runs after that.
  void wake_clients(Process& process, Instant at);

 private:
  void happen(const Planned& planned);
  void make_ghost();
  static order::NodeList list_of_nodes(const WorldOptions& options,
                                       const std::vector<NodeId>& nodes);
  void tell_list(NodeId node);
  void arrive(NodeId to, PacketIndex packet);
  Process* current(const Planned& planned);

  // Processor.
  void kick(Process& process);
  void plan_run(Process& process, Instant at);
  void run_once(Process& process);
  bool work_waits(Process& process) const;
  bool timer_due(const Process& process) const;
  void note_idle_timer(Process& process);
  void read_packet(Process& process);
  std::optional<Lane> choose_lane(Process& process);
  void submit_now(Process& process, Submission submission);
  void resume(Process& process);
  void consume(Process& process);
  /// One input of a node. Afterwards the process may be gone.
  template <class Call>
  void call(Process& process, Call&& body) {
    ++process.calls;
    process.sends_in_call = 0;
    process.effects_in_call = 0;
    body(*process.node, process.clock.local(now_));
    if (process.clients != nullptr && process.end == Process::End::none) {
      process.clients->work();
      process.node->flush(process.clock.local(now_));
    }
    after_call(process);
  }
  void after_call(Process& process);
  std::unique_ptr<order::Engine> make_engine(Process& process, std::uint64_t seed,
                                             order::Host& host);
  // Logs of acceptors.
  bool is_acceptor(NodeId node) const;
  void commit_log(Process& process);
  void tell_durable(Process& process);
  void log_written(NodeId node, NodeLog& log, std::uint32_t incarnation);
  /// The processor is busy with `work`.
  void work_for(Process& process, Duration work);
  void check_memory(const Process& process);
  void plan_timer(Process& process);
  void end_process(Process& process);

  // Network.
  void send_plainly(Process& from, PacketIndex packet, bool dies);
  void deliver_copies(PacketIndex packet, NodeId to, Instant departure);
  void plan_arrival(Instant at, NodeId to, PacketIndex packet);
  void remember(PacketIndex packet);
  PacketIndex damaged(PacketIndex packet);
  std::optional<PacketIndex> old_packet(std::optional<PacketKind> kind);

  // With a network model.
  void send_frames(Process& from, PacketIndex packet);
  void pass_switch(std::uint32_t flight);
  /// False if the node drops the packet.
  bool charge_receive(Process& process, const Packet& packet);
  /// Charges the delivery to the application, and returns when it is done.
  Instant charge_told(Process& process, const node::Message& message);
  void charge(Process& process, Duration work) { process.charged = process.charged + work; }

  void submit_load(std::uint32_t index);
  std::uint64_t next_epoch(NodeId node, std::int64_t step);
  void fold_digests();

  WorldOptions options_;
  HistoryRecorder& recorder_;
  Network network_;
  std::unique_ptr<NetModel> model_;  ///< null: a packet costs `send_cost` and time on its sender's
                                     ///< link
  Random driver_random_;
  Random load_random_;
  Random domain_random_;
  Random replay_random_;
  Instant now_{};
  EventQueue queue_;
  PacketStore packets_;
  std::vector<NodeId> universe_;
  std::vector<std::vector<order::Domain>> domains_;     ///< of each node; 0 first
  std::vector<order::NodeList> files_;                  ///< by node
  std::map<std::uint64_t, std::vector<NodeId>> lists_;  ///< all lists so far, by hash
  std::vector<std::unique_ptr<Process>> processes_;     ///< by node
  std::vector<std::unique_ptr<NodeLog>> logs_;          ///< by node; null if it is not an acceptor
  std::vector<std::uint32_t> incarnations_;
  std::vector<std::uint64_t> epochs_;
  std::vector<Clock> clocks_;
  std::vector<std::int32_t> first_drift_;
  std::vector<std::uint64_t> payloads_;
  std::vector<Load> loads_;
  ClientMix client_mix_;
  ClientNames client_names_;
  std::vector<std::function<void()>> actions_;
  std::vector<std::uint32_t> free_actions_;
  std::array<std::vector<PacketIndex>, kPacketKinds> memory_;
  std::array<std::uint64_t, kPacketKinds> memory_seen_{};
  std::array<std::uint64_t, kPacketKinds> packets_by_kind_{};
  std::vector<std::pair<PacketIndex, NodeId>> held_;
  Instant latest_arrival_{};
  Watcher* watcher_ = nullptr;
  std::unique_ptr<order::Ghost> ghost_;
  Digest digest_;
};

}  // namespace peal::sim
