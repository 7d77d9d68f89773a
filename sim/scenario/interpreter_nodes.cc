// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sim/scenario/interpreter.h"

namespace peal::sim {
namespace {

std::optional<Service> service_of(const std::string& name) {
  if (name == "safe") return Service::safe;
  if (name == "agreed") return Service::agreed;
  if (name == "causal") return Service::causal;
  if (name == "fifo") return Service::fifo;
  return std::nullopt;
}

}  // namespace

/// start n1,n2 [epoch=+5|-5]
void Interpreter::do_start(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  std::int64_t step = 0;
  if (const auto epoch = words.value("epoch")) {
    const bool back = !epoch->empty() && (*epoch)[0] == '-';
    Tokenizer number(epoch->substr(back || (*epoch)[0] == '+' ? 1 : 0), 0);
    step = static_cast<std::int64_t>(number.number(0, 1'000'000'000));
    if (number.failed()) words.fail("epoch=" + *epoch + ": " + number.problem());
    if (back) step = -step;
  }
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->start(node, step);
}

/// crash n1,n2 [after-sends 3]
void Interpreter::do_crash(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  std::uint64_t sends = 0;
  if (words.accept("after-sends")) sends = words.number(1, 1'000'000'000);
  if (!acting(words)) return;
  if (sends == 0 && nodes.size() == world_->nodes()) recorder_->faults().add(Fault::crash_all);
  for (const NodeId node : nodes) {
    if (sends == 0) {
      world_->crash(node);
    } else {
      world_->crash_after_sends(node, sends);
    }
  }
}

/// pause n1 700ms
void Interpreter::do_pause(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const Duration length = words.duration();
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->pause(node, length);
}

/// leave n1
void Interpreter::do_leave(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->leave(node);
}

/// list n1,n2 to n1,n2,n3
void Interpreter::do_list(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.expect("to");
  const std::vector<NodeId> list = words.nodes();
  if (world_options_.list.empty()) words.fail("lists change only if 'cluster' has list=");
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->set_list(node, list);
}

/// slow n1 30
void Interpreter::do_slow(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::uint64_t times = words.number(1, 100'000);
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->set_slowness(node, static_cast<std::int64_t>(times));
}

/// application n1 normal | application n1 [room=0] [per-unit=1ms]
void Interpreter::do_application(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const bool normal = words.accept("normal");
  words.take_keys();
  std::uint32_t room = world_options_.process.room_units;
  Duration per_unit{};
  if (!normal) {
    room = static_cast<std::uint32_t>(words.number("room", room, 0, 1U << 20));
    per_unit = words.duration("per-unit", per_unit);
  }
  if (!acting(words)) return;
  for (const NodeId node : nodes) world_->set_application(node, room, per_unit);
}

/// disk n1 [votes|owed] fails | … slow 200ms | … hangs [10s] | … lost | … copied | … put-back |
/// … rots | … stray | … full, or disk n1 of n2, or disk n1 mended
/// A lost disk is empty at the node's next start; one put back holds the last copy.
void Interpreter::do_disk(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const bool one = words.peek() == "votes" || words.peek() == "owed";
  const std::string only = one ? words.take("votes or owed") : std::string();
  constexpr std::array<std::string_view, 11> kWhat{"fails", "slow",   "hangs",    "mended",
                                                   "lost",  "copied", "put-back", "rots",
                                                   "stray", "full",   "of"};
  const std::string accepted =
      "fails, slow, hangs, mended, lost, copied, put-back, rots, stray, full or of";
  const std::string what = words.take(accepted);
  if (std::find(kWhat.begin(), kWhat.end(), what) == kWhat.end()) {
    words.fail("'" + what + "': accepted is " + accepted);
  }
  const bool ends = what == "slow" || (what == "hangs" && !words.at_end());
  const Duration time = ends ? words.duration() : Duration{};
  const NodeId other = what == "of" ? words.node() : NodeId{};
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    NodeLog* disk = world_->disks().of(node);
    if (disk == nullptr) continue;  // not an acceptor
    if (what == "of") {
      recorder_->faults().add(Fault::disk_exchanged);
      disk->give(*world_->disks().of(other));
      continue;
    }
    if (what == "fails") (only == "owed" ? disk->owed() : disk)->fail();
    if (only != "owed") do_to_folder(*disk, what, time);
    if (only != "votes") do_to_folder(*disk->owed(), what, time);
    if (what == "mended") world_->disks().mend(node);
    if (ends && what == "hangs") {
      world_->plan(now() + time, [this, node] { world_->disks().end_hang(node); });
    }
    if (what == "full") recorder_->faults().add(Fault::disk_full);
    if (what == "rots" || what == "stray") recorder_->faults().add(Fault::disk_damaged);
    if (only == "owed") continue;  // the owed log holds no votes
    if (what == "lost") recorder_->faults().add(Fault::disk_lost);
    if (what == "put-back" && disk->is_put_back()) recorder_->faults().add(Fault::disk_put_back);
    if (what == "hangs") recorder_->faults().add(Fault::disk_hangs);
    if (what == "slow") recorder_->faults().add(Fault::disk_slow);
  }
}

void Interpreter::do_to_folder(NodeLog& folder, std::string_view what, Duration time) {
  if (what == "lost") folder.lose();
  if (what == "copied") folder.copy();
  if (what == "put-back") folder.put_back();
  if (what == "hangs") folder.hang();
  if (what == "full") folder.fill();
  if (what == "rots") folder.damage(NodeLog::Damage::rot);
  if (what == "stray") folder.damage(NodeLog::Damage::stray);
  if (what == "slow") folder.slow(time);
}

/// clock n1 rate=1.2: the clock runs a fifth too fast from now on; rate=1 is correct
void Interpreter::do_clock(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  const double rate = words.fraction("rate", 1, 1.5);
  if (rate < 0.5) words.fail("rate= is 0.5 to 1.5");
  if (!acting(words)) return;
  const auto ppm = static_cast<std::int32_t>(std::lround((rate - 1) * 1e6));
  if (ppm != 0) recorder_->faults().add(Fault::clock_rate, nodes.size());
  for (const NodeId node : nodes) world_->set_clock_drift(node, ppm);
}

/// submit n1 safe "text" [domain=1] | submit n1 agreed size=1000 [count=50] [domain=1]
void Interpreter::do_submit(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const Service service = take_service(words);
  std::optional<std::string> text;
  words.take_keys();
  const bool sized = words.has("size");
  const std::uint64_t size = words.number("size", 0, 0, 1U << 30);
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  const auto domain = static_cast<order::Domain>(words.number("domain", 0, 0, trace::kDomainMax));
  if (!sized) text = words.text();
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const auto& own = world_->domains().of(node);
    if (std::find(own.begin(), own.end(), domain) != own.end()) continue;
    return words.fail("a node is not in domain " + std::to_string(domain));
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const NodeId node : nodes) {
      world_->submit(node, service, text ? *text : world_->loads().payload(node, size), domain);
    }
  }
}

Service Interpreter::take_service(Tokenizer& words) {
  const std::string name = words.take("a service");
  const std::optional<Service> service = service_of(name);
  if (!service) words.fail("'" + name + "' is no service: safe, agreed, causal or fifo");
  return service.value_or(Service::agreed);
}

/// load stop | load rate=1000 [nodes=n1,n2] [size=8-200] [large=0.01] [large-size=2000-20000]
///   [safe=0.3] [burst=1] [for=2s]
void Interpreter::do_load(Tokenizer& words) {
  if (words.accept("stop")) {
    if (acting(words)) world_->loads().stop();
    return;
  }
  words.take_keys();
  Load load;
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= world_options_.nodes; ++n) all.push_back(NodeId{n});
  load.nodes = words.nodes("nodes", all);
  load.rate = words.fraction("rate", load.rate, 1e7);
  const auto size = words.range("size", {load.size_low, load.size_high});
  const auto large = words.range("large-size", {load.large_low, load.large_high});
  load.size_low = static_cast<std::uint32_t>(size.first);
  load.size_high = static_cast<std::uint32_t>(size.second);
  load.large_low = static_cast<std::uint32_t>(large.first);
  load.large_high = static_cast<std::uint32_t>(large.second);
  load.large = words.fraction("large", load.large);
  load.safe = words.fraction("safe", load.safe);
  load.burst = static_cast<std::uint32_t>(words.number("burst", load.burst, 1, 100'000));
  const Duration length = words.duration("for", seconds(1'000'000));
  if (load.rate <= 0) words.fail("a load needs a rate above 0");
  if (!acting(words)) return;
  load.until = now() + length;
  world_->loads().add(load);
}

}  // namespace peal::sim
