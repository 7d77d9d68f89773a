// SPDX-License-Identifier: Apache-2.0
#include "sim/world/driver.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/digest.h"
#include "sim/world/process_checks.h"

namespace peal::sim {
namespace {

constexpr std::array<Lane, 3> kLanes{Lane::token, Lane::data, Lane::control};

}  // namespace

Driver::Driver(const WorldOptions& options, Schedule& schedule, Machines& machines, Disks& disks,
               Transit& transit, NetModel* model, Observers& observers)
    : options_(options),
      schedule_(schedule),
      machines_(machines),
      disks_(disks),
      packets_(transit.packets()),
      model_(model),
      observers_(observers),
      random_(seed_for(options, 2)) {}

// ---- when a process runs ----

void Driver::happen(const Planned& planned) {
  const NodeId node{planned.node};
  Process* process = machines_.process(node, planned.a);
  if (process == nullptr) return;
  Processor& processor = process->processor;
  switch (planned.what) {
    case Happening::run:
      processor.run_planned = false;
      kick(*process);
      return;
    case Happening::timer:
      if (processor.timer_planned && *processor.timer_planned <= schedule_.now()) {
        processor.timer_planned.reset();
      }
      kick(*process);
      if (Process* still = machines_.process(node, planned.a)) plan_timer(*still);
      return;
    case Happening::resume: resume(*process); return;
    case Happening::consume: consume(*process); return;
    default: PEAL_ASSERT(false);
  }
}

void Driver::arrive(NodeId to, PacketIndex index) {
  Process* process = machines_.process(to);
  if (process == nullptr) {
    packets_.release(index);
    return;
  }
  Socket& socket = process->inputs.socket(packets_[index].lane);
  if (socket.size() >= options_.process.socket_packets) {
    observers_.recorder.faults().add(Fault::socket_full);
    packets_.release(index);
    return;
  }
  socket.push(index);
  if (model_ != nullptr && model_->options().coalesce.ns > 0) {
    // Let the process run later, so that all packets of one interrupt are in the socket first.
    if (process->state == Process::State::up) {
      plan_run(*process, std::max(schedule_.now(), process->processor.busy_until));
    }
    return;
  }
  kick(*process);
}

void Driver::kick(Process& process) {
  if (process.state != Process::State::up || process.processor.run_planned) return;
  if (!work_waits(process)) return;
  if (process.processor.busy_until > schedule_.now()) {
    plan_run(process, process.processor.busy_until);
    return;
  }
  const NodeId node = process.self.node;
  const std::uint32_t incarnation = process.incarnation;
  run_once(process);
  Process* still = machines_.process(node, incarnation);
  if (still == nullptr) return;
  if (still->state == Process::State::up && work_waits(*still)) {
    plan_run(*still, still->processor.busy_until);
  }
}

void Driver::plan(Instant at, Happening what, const Process& process) {
  schedule_.push(at, what, process.self.node.value, process.incarnation);
}

void Driver::plan_run(Process& process, Instant at) {
  if (process.processor.run_planned) return;
  process.processor.run_planned = true;
  plan(at, Happening::run, process);
}

void Driver::plan_timer(Process& process) {
  if (process.state != Process::State::up) return;
  const std::optional<Instant> deadline = process.node->next_deadline();
  if (!deadline) return;
  Processor& processor = process.processor;
  const Instant at =
      std::max({schedule_.now(), processor.busy_until, process.clock.world(*deadline)});
  if (processor.timer_planned && *processor.timer_planned <= at) return;
  processor.timer_planned = at;
  plan(at, Happening::timer, process);
}

void Driver::plan_consume(Process& process) {
  process.application.consume_planned = true;
  plan(schedule_.now() + process.application.consume_every, Happening::consume, process);
}

void Driver::wake_clients(const Process& process, Instant at) {
  schedule_.plan(at, [this, node = process.self.node, incarnation = process.incarnation] {
    Process* still = machines_.process(node, incarnation);
    if (still == nullptr) return;
    still->inputs.clients_wanted = true;
    kick(*still);
  });
}

bool Driver::timer_due(const Process& process) const {
  const std::optional<Instant> deadline = process.node->next_deadline();
  return deadline && *deadline <= process.clock.local(schedule_.now());
}

bool Driver::work_waits(const Process& process) const {
  return process.inputs.any() || timer_due(process);
}

// ---- one input ----

void Driver::run_once(Process& process) {
  Inputs& inputs = process.inputs;
  const bool packets = inputs.has_packets();
  const bool time_for_timers = process.processor.reads_since_timer >= options_.read_budget &&
                               !inputs.draining && timer_due(process);
  if (inputs.leave_wanted) {
    inputs.leave_wanted = false;
    observers_.recorder.faults().add(Fault::leave);
    call(process, [this, &process](node::Node& node, Instant local) {
      node.leave(local);
      if (process.end == Process::End::none) {
        observers_.recorder.left(schedule_.now(), process.self);
        process.end = Process::End::left;
      }
    });
  } else if (!inputs.inbox.empty() && (!packets || random_.chance(0.5))) {
    const Submission submission = std::move(inputs.inbox.front());
    inputs.inbox.pop_front();
    submit(process, submission);
  } else if (inputs.log_grew && model_ != nullptr) {
    tell_durable(process);  // an event loop also checks the log once per turn
  } else if (packets && !time_for_timers) {
    read_packet(process);
  } else if (inputs.memory_came && (!timer_due(process) || random_.chance(0.5))) {
    inputs.memory_came = false;
    call(process, [](node::Node& node, Instant local) { node.on_memory(local); });
  } else if (inputs.clients_wanted) {
    inputs.clients_wanted = false;
    call(process, [&process](node::Node&, Instant) { process.clients->serve(); });
  } else if (inputs.draining) {
    inputs.draining = false;
    call(process, [](node::Node& node, Instant local) { node.on_drained(local); });
  } else if (inputs.log_grew) {
    tell_durable(process);
  } else if (inputs.room_grew) {
    inputs.room_grew = false;
    call(process, [](node::Node& node, Instant local) { node.on_room(local); });
  } else if (timer_due(process)) {
    process.processor.reads_since_timer = 0;
    call(process, [this, &process](node::Node& node, Instant local) {
      node.on_timer(local);
      if (process.work.effects_in_call != 0 || process.sending.in_call != 0) return;
      note_idle_timer(process, observers_.recorder);
    });
  }
}

/// Chooses one of the sockets that have packets.
Lane Driver::choose_lane(Process& process) {
  std::array<Lane, 3> waiting{};
  std::size_t count = 0;
  for (const Lane lane : kLanes) {
    if (!process.inputs.socket(lane).empty()) waiting[count++] = lane;
  }
  PEAL_ASSERT(count > 0);
  if (count == 1) return waiting[0];
  // The node's preference is only a hint: the node must be correct whichever socket is read first.
  if (!options_.follow_preference && random_.chance(0.5)) return waiting[random_.below(count)];
  Lane preferred = process.node->preferred_lane();
  if (preferred == Lane::control) {  // read data and control in turn
    process.processor.control_next = !process.processor.control_next;
    if (!process.processor.control_next) preferred = Lane::data;
  }
  return process.inputs.socket(preferred).empty() ? waiting[0] : preferred;
}

void Driver::read_packet(Process& process) {
  const Lane lane = choose_lane(process);
  const PacketIndex index = process.inputs.socket(lane).pop();
  const Packet& packet = packets_[index];
  const auto size = static_cast<std::uint32_t>(packet.bytes.size());
  Processor& processor = process.processor;
  ++processor.reads_since_timer;
  if (model_ != nullptr && !charge_receive(process, packet)) {
    packets_.release(index);
    return;
  }
  BufferPool& pool = process.buffers.for_packet(size);
  BufferRef buffer = size <= pool.slab_bytes() ? pool.take(0, size) : BufferRef{};
  if (!buffer) {
    observers_.recorder.faults().add(Fault::no_buffer);
    processor.busy_until = schedule_.now() + options_.step_cost + processor.charged;
    processor.charged = {};
  } else {
    std::copy(packet.bytes.begin(), packet.bytes.end(), buffer.data());
  }
  if (buffer && observers_.ghost != nullptr) {
    observers_.ghost->received(process.self, inspected(packet));
  }
  packets_.release(index);
  if (!buffer) return;
  call(process, [&buffer, lane](node::Node& node, Instant local) {
    const BufferRef read = std::move(buffer);  // released before the process can be destroyed
    node.on_packet(local, lane, read);
  });
}

bool Driver::charge_receive(Process& process, const Packet& packet) {
  const auto bytes = packet.bytes.size();
  process.processor.charge(model_->options().cpu.receive.of(bytes, model_->frames_of(bytes).count));
  if (!carries_units(packet.kind) || !model_->loses_data()) return true;
  observers_.recorder.faults().add(Fault::kind_loss);
  process.processor.work_for(process.processor.charged, schedule_.now());
  return false;
}

void Driver::tell_durable(Process& process) {
  process.inputs.log_grew = false;
  call(process, [](node::Node& node, Instant local) { node.on_durable(local); });
}

void Driver::submit(Process& process, const Submission& submission) {
  if (process.clients != nullptr) {
    call(process, [&](node::Node&, Instant) { process.clients->carry_out(submission); });
    return;
  }
  const ByteView payload = as_bytes_view(submission.payload);
  if (model_ != nullptr) {
    process.processor.charge(model_->options().cpu.submit.of(payload.size(), 1));
  }
  Submissions& submissions = process.submissions;
  submissions.pending = {submissions.accepted + 1, digest_of(payload), payload.size(),
                         submission.service,       submission.domains, false};
  call(process, [&](node::Node& node, Instant local) {
    const Result<std::uint64_t, Errc> number =
        node.submit(local, payload, submission.service, submission.domains);
    if (!number) {
      submissions.pending.announced = true;
      ++submissions.refused;
      return;
    }
    PEAL_ASSERT(*number == submissions.pending.number);
    ++submissions.accepted;
    ++observers_.recorder.figures().messages_submitted;
    if (process.end == Process::End::none) process.announce_submission();
  });
}

void Driver::resume(Process& process) {
  if (process.state != Process::State::paused) return;
  process.state = Process::State::up;
  process.processor.timer_planned.reset();
  const Duration gap =
      process.clock.local(schedule_.now()) - process.clock.local(process.processor.paused_at);
  if (gap < options_.engine.usual().pause) {  // an event loop does not notice so short a pause
    plan_timer(process);
    kick(process);
    return;
  }
  process.inputs.draining = true;
  const NodeId node = process.self.node;
  call(process, [gap](node::Node& n, Instant local) { n.on_pause(local, gap); });
  if (Process* still = machines_.process(node)) kick(*still);
}

void Driver::consume(Process& process) {
  Application& application = process.application;
  application.consume_planned = false;
  if (application.room_used == 0 || application.consume_every.ns == 0) return;
  const bool was_full = process.receive_room_units() == 0;
  --application.room_used;
  if (was_full && process.receive_room_units() > 0) process.inputs.room_grew = true;
  if (application.room_used > 0) plan_consume(process);
  kick(process);
}

// ---- after one input ----

void Driver::after_call(Process& process) {
  const Processor& processor = process.processor;
  const std::int64_t sends = model_ != nullptr ? (processor.charged + processor.charged_after).ns
                                               : options_.send_cost.ns * process.sending.in_call;
  process.processor.work_for(Duration{options_.step_cost.ns + sends}, schedule_.now());
  if (process.end != Process::End::none) {
    if (process.end == Process::End::conflict) {
      const NodeLog* log = disks_.of(process.self.node);
      note_conflict(process, log != nullptr && log->failed(), observers_.recorder);
    }
    end(process);
    return;
  }
  process.node->check_invariants();
  check_buffers(process, observers_.recorder);
  disks_.commit(process);
  const Application& application = process.application;
  if (application.room_used > 0 && application.consume_every.ns > 0 &&
      !application.consume_planned) {
    plan_consume(process);
  }
  plan_timer(process);
}

void Driver::end(Process& process) {
  PEAL_ASSERT(process.end != Process::End::none);
  if (process.clients != nullptr) process.clients->ended();
  for (Socket& socket : process.inputs.sockets) {
    while (!socket.empty()) packets_.release(socket.pop());
  }
  const NodeId node = process.self.node;
  machines_.remove(process);
  disks_.crash(node);
}

void Driver::delivered(Process& process, const node::Message& message) {
  const Instant at = charge_delivery(process, message);
  if (observers_.watcher != nullptr) observers_.watcher->on_message(at, process.self, message);
}

void Driver::delivered_early(Process& process, const node::Message& message) {
  const Instant at = charge_delivery(process, message);
  if (observers_.watcher != nullptr) observers_.watcher->on_early(at, process.self, message);
}

Instant Driver::charge_delivery(Process& process, const node::Message& message) {
  Processor& processor = process.processor;
  if (model_ != nullptr) {
    const CpuCosts& cpu = model_->options().cpu;
    processor.charge(cpu.deliver.of(message.payload.size(), 1));
    processor.charged_after = processor.charged_after + cpu.finish.of(message.payload.size(), 1);
  }
  return schedule_.now() + (options_.step_cost + processor.charged) * processor.slowness;
}

}  // namespace peal::sim
