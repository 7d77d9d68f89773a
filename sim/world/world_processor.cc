// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "sim/world/world.h"

// How a node gets to run: one input at a time, each of which takes processor time; sockets before
// timers; after a pause first the input that had accumulated. io's event loop does the same on a
// real machine.

namespace peal::sim {
namespace {

constexpr std::array<Lane, 3> kLanes{Lane::token, Lane::data, Lane::control};

/// Most timer calls without any effect, per second and node.
constexpr std::uint64_t kIdleTimersMax = 20'000;

/// Buffers for anything but ordered packets: copies of tokens, a commit token.
constexpr std::uint32_t kSlabsBeside = 64;

Socket& socket_of(Process& process, Lane lane) {
  return process.sockets[static_cast<std::size_t>(lane)];
}

}  // namespace

void World::work_for(Process& process, Duration work) {
  process.busy_until = now_ + work * process.slowness;
  process.worked = process.worked + work * process.slowness;
  process.charged = {};
}

void World::after_call(Process& process) {
  const std::int64_t sends =
      model_ != nullptr ? process.charged.ns : options_.send_cost.ns * process.sends_in_call;
  work_for(process, Duration{options_.step_cost.ns + sends});
  if (process.end != Process::End::none) {
    if (process.end == Process::End::conflict) {
      const NodeLog* log = disk(process.self.node);
      const bool disk_failed = log != nullptr && log->failed();
      recorder_.faults().add(disk_failed ? Fault::disk_failed : Fault::identity_conflict);
      recorder_.crashed(now_, process.self);
      // Only its own clock, set back, or its own disk may cause this.
      if (!disk_failed && !process.set_back) {
        recorder_.violation(
            now_, "fatal",
            "n" + std::to_string(process.self.node.value) + ": " + process.fatal_reason);
      }
    }
    end_process(process);
    return;
  }
  process.node->check_invariants();
  check_memory(process);
  commit_log(process);
  if (process.room_used > 0 && process.consume_every.ns > 0 && !process.consume_planned) {
    process.consume_planned = true;
    queue_.push(now_ + process.consume_every, Happening::consume, process.self.node.value,
                process.incarnation);
  }
  plan_timer(process);
}

/// A node keeps packets until all members have them, and the maximal gap bounds their number: more
/// than twice as many is a leak.
void World::check_memory(const Process& process) {
  const std::uint32_t held = process.receive_pool->slab_count() -
                             process.receive_pool->free_count() + process.unit_pool->slab_count() -
                             process.unit_pool->free_count();
  const std::uint32_t most = options_.engine.needs(options_.nodes).held;
  if (held <= most + kSlabsBeside || recorder_.broken()) return;
  recorder_.violation(now_, "R1",
                      "n" + std::to_string(process.self.node.value) + " holds " +
                          std::to_string(held) + " buffers, and " + std::to_string(most) +
                          " are accounted for");
}

void World::plan_timer(Process& process) {
  if (process.state != Process::State::up) return;
  const std::optional<Instant> deadline = process.node->next_deadline();
  if (!deadline) return;
  const Instant at = std::max({now_, process.busy_until, process.clock.world(*deadline)});
  if (process.timer_planned && *process.timer_planned <= at) return;
  process.timer_planned = at;
  queue_.push(at, Happening::timer, process.self.node.value, process.incarnation);
}

bool World::timer_due(const Process& process) const {
  const std::optional<Instant> deadline = process.node->next_deadline();
  return deadline && *deadline <= process.clock.local(now_);
}

bool World::work_waits(Process& process) const {
  return !process.inbox.empty() || process.leave_wanted || process.clients_wanted ||
         process.draining || process.room_grew || process.log_grew || !process.sockets[0].empty() ||
         !process.sockets[1].empty() || !process.sockets[2].empty() || timer_due(process);
}

void World::plan_run(Process& process, Instant at) {
  if (process.run_planned) return;
  process.run_planned = true;
  queue_.push(at, Happening::run, process.self.node.value, process.incarnation);
}

void World::kick(Process& process) {
  if (process.state != Process::State::up || process.run_planned) return;
  if (!work_waits(process)) return;
  if (process.busy_until > now_) {
    plan_run(process, process.busy_until);
    return;
  }
  const NodeId node = process.self.node;
  const std::uint32_t incarnation = process.incarnation;
  run_once(process);
  Process* still = processes_[node.value].get();
  if (still == nullptr || still->incarnation != incarnation) return;
  if (still->state == Process::State::up && work_waits(*still)) {
    plan_run(*still, still->busy_until);
  }
}

std::optional<Lane> World::choose_lane(Process& process) {
  std::array<Lane, 3> waiting{};
  std::size_t count = 0;
  for (const Lane lane : kLanes) {
    if (!socket_of(process, lane).empty()) waiting[count++] = lane;
  }
  if (count == 0) return std::nullopt;
  if (count == 1) return waiting[0];
  // The node's preference is a hint: the node must be correct whichever socket is read first.
  if (!options_.follow_preference && driver_random_.chance(0.5)) {
    return waiting[driver_random_.below(count)];
  }
  Lane preferred = process.node->preferred_lane();
  if (preferred == Lane::control) {  // data and control in turn
    process.control_next = !process.control_next;
    if (!process.control_next) preferred = Lane::data;
  }
  return socket_of(process, preferred).empty() ? waiting[0] : preferred;
}

void World::read_packet(Process& process) {
  const Lane lane = *choose_lane(process);
  const PacketIndex index = socket_of(process, lane).pop();
  const Packet& packet = packets_[index];
  const auto size = static_cast<std::uint32_t>(packet.bytes.size());
  ++process.reads_since_timer;
  if (model_ != nullptr && !charge_receive(process, packet)) {
    packets_.release(index);
    return;
  }
  BufferPool& pool =
      size <= process.receive_pool->slab_bytes() ? *process.receive_pool : *process.large_pool;
  BufferRef buffer = size <= pool.slab_bytes() ? pool.take(0, size) : BufferRef{};
  if (!buffer) {
    recorder_.faults().add(Fault::no_buffer);
    process.busy_until = now_ + options_.step_cost + process.charged;
    process.charged = {};
  } else {
    std::copy(packet.bytes.begin(), packet.bytes.end(), buffer.data());
  }
  if (buffer && ghost_ != nullptr) ghost_->received(process.self, inspected(packet));
  packets_.release(index);
  if (!buffer) return;
  call(process, [&buffer, lane](node::Node& node, Instant local) {
    const BufferRef read = std::move(buffer);  // released before the process can be destroyed
    node.on_packet(local, lane, read);
  });
}

void World::tell_durable(Process& process) {
  process.log_grew = false;
  call(process, [](node::Node& node, Instant local) { node.on_durable(local); });
}

void World::run_once(Process& process) {
  const bool packets =
      !process.sockets[0].empty() || !process.sockets[1].empty() || !process.sockets[2].empty();
  const bool time_for_timers =
      process.reads_since_timer >= options_.read_budget && !process.draining && timer_due(process);
  if (process.leave_wanted) {
    process.leave_wanted = false;
    recorder_.faults().add(Fault::leave);
    call(process, [this, &process](node::Node& node, Instant local) {
      node.leave(local);
      if (process.end == Process::End::none) {
        recorder_.left(now_, process.self);
        process.end = Process::End::left;
      }
    });
  } else if (!process.inbox.empty() && (!packets || driver_random_.chance(0.5))) {
    Submission submission = std::move(process.inbox.front());
    process.inbox.pop_front();
    submit_now(process, std::move(submission));
  } else if (process.log_grew && model_ != nullptr) {
    tell_durable(process);  // an event loop, too, checks this once per turn
  } else if (packets && !time_for_timers) {
    read_packet(process);
  } else if (process.clients_wanted) {
    process.clients_wanted = false;
    call(process, [&process](node::Node&, Instant) { process.clients->serve(); });
  } else if (process.draining) {
    process.draining = false;
    call(process, [](node::Node& node, Instant local) { node.on_drained(local); });
  } else if (process.log_grew) {
    tell_durable(process);
  } else if (process.room_grew) {
    process.room_grew = false;
    call(process, [](node::Node& node, Instant local) { node.on_room(local); });
  } else if (timer_due(process)) {
    process.reads_since_timer = 0;
    call(process, [this, &process](node::Node& node, Instant local) {
      node.on_timer(local);
      if (process.effects_in_call != 0 || process.sends_in_call != 0) return;
      note_idle_timer(process);
    });
  }
}

/// A deadline that stays in the past would occupy a whole processor.
void World::note_idle_timer(Process& process) {
  ++process.idle_timer_calls;
  if (now_ - process.idle_from >= seconds(1)) {
    process.idle_from = now_;
    process.idle_in_second = 0;
  }
  if (++process.idle_in_second != kIdleTimersMax) return;
  recorder_.violation(now_, "R3",
                      "n" + std::to_string(process.self.node.value) + ": " +
                          std::to_string(kIdleTimersMax) +
                          " timer calls without any effect in a second");
}

void World::wake_clients(Process& process, Instant at) {
  plan(at, [this, node = process.self.node, incarnation = process.incarnation] {
    Process* still = processes_[node.value].get();
    if (still == nullptr || still->incarnation != incarnation) return;
    still->clients_wanted = true;
    kick(*still);
  });
}

void World::submit_now(Process& process, Submission submission) {
  if (process.clients != nullptr) {
    call(process, [&](node::Node&, Instant) { process.clients->carry_out(submission); });
    return;
  }
  const ByteView payload = as_bytes_view(submission.payload);
  if (model_ != nullptr) charge(process, model_->options().cpu.submit.of(payload.size(), 1));
  process.pending = {process.submitted + 1, digest_of(payload), payload.size(),
                     submission.service,    submission.domain,  false};
  call(process, [&](node::Node& node, Instant local) {
    const Result<std::uint64_t> number =
        node.submit(local, payload, submission.service, submission.domain);
    if (!number) {
      process.pending.announced = true;
      ++process.refused;
      return;
    }
    PEAL_ASSERT(*number == process.pending.number);
    ++process.submitted;
    ++recorder_.figures().messages_submitted;
    if (process.end == Process::End::none) process.announce_submission();
  });
}

void World::resume(Process& process) {
  if (process.state != Process::State::paused) return;
  process.state = Process::State::up;
  process.timer_planned.reset();
  const Duration gap = process.clock.local(now_) - process.clock.local(process.paused_at);
  if (gap < options_.engine.usual().pause) {  // an event loop would not notice it
    plan_timer(process);
    kick(process);
    return;
  }
  process.draining = true;
  const NodeId node = process.self.node;
  call(process, [gap](node::Node& n, Instant local) { n.on_pause(local, gap); });
  if (Process* still = processes_[node.value].get()) kick(*still);
}

void World::consume(Process& process) {
  process.consume_planned = false;
  if (process.room_used == 0 || process.consume_every.ns == 0) return;
  const bool was_full = process.receive_room_units() == 0;
  --process.room_used;
  if (was_full && process.receive_room_units() > 0) process.room_grew = true;
  if (process.room_used > 0) {
    process.consume_planned = true;
    queue_.push(now_ + process.consume_every, Happening::consume, process.self.node.value,
                process.incarnation);
  }
  kick(process);
}

}  // namespace peal::sim
