// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/random.h"
#include "sim/netmodel/model.h"
#include "sim/world/disks.h"
#include "sim/world/machines.h"
#include "sim/world/observers.h"
#include "sim/world/options.h"
#include "sim/world/schedule.h"
#include "sim/world/transit.h"

namespace peal::sim {

/// Passes inputs to nodes, one input at a time. Each input takes processor time. A node reads its
/// sockets before its timers. After a pause, a node first reads the input that accumulated during
/// the pause. The event loop in io does the same on a real machine.
class Driver {
 public:
  /// `model` is null if the world has no network model.
  Driver(const WorldOptions& options, Schedule& schedule, Machines& machines, Disks& disks,
         Transit& transit, NetModel* model, Observers& observers);

  /// Executes a planned event of a process, which may have ended.
  void happen(const Planned& planned);
  /// Handles the arrival of a packet at the node's socket.
  void arrive(NodeId to, PacketIndex packet);
  /// Lets the process run if it has input. If the processor is busy, the process runs when the
  /// processor is free.
  void kick(Process& process);
  /// Passes one input to the node. Afterwards the process may have ended.
  template <class Call>
  void call(Process& process, Call&& body) {
    ++process.work.calls;
    process.sending.in_call = 0;
    process.work.effects_in_call = 0;
    body(*process.node, process.clock.local(schedule_.now()));
    if (process.clients != nullptr && process.end == Process::End::none) {
      process.clients->work();
      process.node->flush(process.clock.local(schedule_.now()));
    }
    process.flush_memory();
    after_call(process);
  }
  void plan_timer(Process& process);
  /// Schedules clients->serve() for the first run of the process at or after `at`.
  void wake_clients(const Process& process, Instant at);
  /// Call when the node has delivered a message to its application: in the final order
  /// (delivered()), or optimistically (delivered_early()).
  void delivered(Process& process, const node::Message& message);
  void delivered_early(Process& process, const node::Message& message);
  /// Ends the process in the way that Process::end states.
  void end(Process& process);

 private:
  void plan(Instant at, Happening what, const Process& process);
  void plan_run(Process& process, Instant at);
  void plan_consume(Process& process);
  bool timer_due(const Process& process) const;
  bool work_waits(const Process& process) const;
  void run_once(Process& process);
  void read_packet(Process& process);
  Lane choose_lane(Process& process);
  /// Charges the cost of receiving the packet. False if the node drops the packet.
  bool charge_receive(Process& process, const Packet& packet);
  /// Charges the delivery of a message to the application. Returns the time at which the delivery
  /// ends.
  Instant charge_delivery(Process& process, const node::Message& message);
  void tell_durable(Process& process);
  void submit(Process& process, const Submission& submission);
  void resume(Process& process);
  void consume(Process& process);
  void after_call(Process& process);

  const WorldOptions& options_;
  Schedule& schedule_;
  Machines& machines_;
  Disks& disks_;
  PacketStore& packets_;
  NetModel* model_;
  Observers& observers_;
  Random random_;
};

}  // namespace peal::sim
