// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "sim/clients/client_names.h"
#include "sim/judge/history_recorder.h"
#include "sim/netmodel/model.h"
#include "sim/world/disks.h"
#include "sim/world/driver.h"
#include "sim/world/fabric.h"
#include "sim/world/loads.h"
#include "sim/world/machines.h"
#include "sim/world/network.h"
#include "sim/world/node_domains.h"
#include "sim/world/node_lists.h"
#include "sim/world/observers.h"
#include "sim/world/options.h"
#include "sim/world/schedule.h"
#include "sim/world/stray_packets.h"
#include "sim/world/traffic.h"
#include "sim/world/transit.h"

namespace peal::sim {

/// A cluster of whole nodes in one thread. Its network, clocks, processors and applications derive
/// from one seed: the same seed and the same calls give the same run, bit by bit.
class World {
 public:
  World(const WorldOptions& options, HistoryRecorder& recorder);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Time.
  Instant now() const { return schedule_.now(); }
  /// Executes the next planned event. False if no event is planned up to `limit`; the time is then
  /// `limit`.
  bool step(Instant limit);
  void run_until(Instant limit);
  /// Calls `action` at `at`, or now if `at` has passed.
  void plan(Instant at, std::function<void()> action) { schedule_.plan(at, std::move(action)); }

  // Nodes. A command has no effect if the node's state does not allow the command.
  std::uint32_t nodes() const { return options_.nodes; }
  /// Starts a new incarnation; Machines::next_epoch() gets `epoch_step`. A node cannot start if the
  /// list in its own file does not name the node. With Traits::crash_stop, a node of a domain
  /// starts only once.
  void start(NodeId node, std::int64_t epoch_step = 0);
  void crash(NodeId node);
  /// The node crashes when it sends its `sends`-th packet from now; `sends` is 1 or more.
  void crash_after_sends(NodeId node, std::uint64_t sends);
  void pause(NodeId node, Duration length);
  void leave(NodeId node);
  /// Replaces the list in the node's file by `list`, which is sorted; a running node gets the new
  /// list.
  void set_list(NodeId node, const std::vector<NodeId>& list);
  /// Slows all work of the node by the factor `times`.
  void set_slowness(NodeId node, std::int64_t times);
  void set_application(NodeId node, std::uint32_t room_units, Duration per_unit);
  /// Changes the rate of the node's clock, in parts per million; the clock never goes back.
  void set_clock_drift(NodeId node, std::int32_t drift_ppm);
  /// Submits a message. With groups, a client performs the action `wish`, or a random action if
  /// `wish` is absent.
  void submit(NodeId node, Service service, std::string payload, DomainSet domains = {},
              std::optional<ClientWish> wish = {});
  /// The running incarnation, or null.
  Process* process(NodeId node) { return machines_.process(node); }
  const Process* process(NodeId node) const { return machines_.process(node); }

  // The parts.
  const WorldOptions& options() const { return options_; }
  Machines& machines() { return machines_; }
  const Machines& machines() const { return machines_; }
  Disks& disks() { return disks_; }
  /// The memories of the processes and the writes between them; null unless the engine needs them.
  Fabric* fabric() { return fabric_.get(); }
  const NodeLists& lists() const { return lists_; }
  NodeDomains& domains() { return domains_; }
  const NodeDomains& domains() const { return domains_; }
  Loads& loads() { return loads_; }
  Network& network() { return network_; }
  Transit& transit() { return transit_; }
  StrayPackets& strays() { return strays_; }
  Traffic& traffic() { return traffic_; }
  Driver& driver() { return driver_; }
  /// The network model, or null.
  const NetModel* model() const { return model_.get(); }
  Observers& observers() { return observers_; }
  HistoryRecorder& recorder() { return observers_.recorder; }
  void watch(Watcher* watcher) { observers_.watcher = watcher; }
  /// A digest of everything that has happened so far.
  std::uint64_t digest() const;

 private:
  void make_ghost();
  void make_clients(Process& process);
  void happen(const Planned& planned);
  void tell_list(NodeId node);
  void fold_digests();

  WorldOptions options_;
  Observers observers_;
  Schedule schedule_;
  NodeLists lists_;
  NodeDomains domains_;
  ClientMix client_mix_;
  ClientNames client_names_;
  Loads loads_;
  Network network_;
  /// If null, a packet costs WorldOptions::send_cost and time on its sender's link.
  std::unique_ptr<NetModel> model_;
  Transit transit_;
  StrayPackets strays_;
  std::unique_ptr<Carrier> carrier_;  ///< of the model, if there are both
  std::unique_ptr<Fabric> fabric_;    ///< declared before the machines, whose processes use it
  Machines machines_;
  Disks disks_;
  Traffic traffic_;
  Driver driver_;
  Digest digest_;
};

}  // namespace peal::sim
