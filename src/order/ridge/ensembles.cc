// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/ensembles.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ridge/chain.h"
#include "order/ridge/ensembles_inner.h"

namespace peal::order::ridge {
namespace {

/// Maximum number of passes of one pump(): limits the work of one call.
constexpr int kPassesMax = 4;
/// Each ensemble gets an equal share of one engine's limits.
paxos::Options part_of(paxos::Options options, std::size_t ensembles) {
  const auto count = static_cast<std::uint32_t>(ensembles);
  const auto part = [count](auto& of, auto least) {
    of = std::max<std::decay_t<decltype(of)>>(of / count, least);
  };
  part(options.window, 8U);
  part(options.member_window, 8U);
  part(options.max_gap, 16U);
  part(options.checkpoint_every, 4U);
  part(options.history_bytes_max, std::uint64_t{1} << 16);
  options.window_first = std::min(options.window_first, options.window);
  return options;
}

/// The numbers of the ensembles that `node` learns.
std::vector<std::uint8_t> learned_by(NodeId node, const Layout& layout) {
  std::vector<std::uint8_t> numbers;
  for (std::uint32_t i = 0; i < layout.ensembles; ++i)
    numbers.push_back(static_cast<std::uint8_t>(i));
  for (std::size_t i = 1; i <= layout.domains.size(); ++i) {
    const auto domain = static_cast<Domain>(i);
    if (layout.has(domain, node))
      numbers.push_back(static_cast<std::uint8_t>(layout.ensembles + i - 1));
  }
  return numbers;
}

}  // namespace

Ensembles::Ensembles(const paxos::Config& config, const Layout& layout, BufferPool& packets,
                     Host& host, const MakeEnsemble& make)
    : self_(config.self),
      layout_(layout),
      waiting_max_(part_of(config.options, learned_by(config.self.node, layout).size()).max_gap),
      host_(host),
      pool_(packets),
      left_out_(2 * config.options.history_bytes_max, config.owed),
      merge_(learned_by(config.self.node, layout).size()),
      own_(config.options.member_window),
      senders_(config.options.member_window) {
  const std::vector<std::uint8_t> numbers = learned_by(self_.node, layout);
  if (config.log != nullptr) {
    log_ = std::make_unique<SharedLog>(*config.log, numbers);
    has_log_ = log_->replay() && left_out_.restore(numbers);
  }
  for (const std::uint8_t number : numbers) add(number, config, make);
}

void Ensembles::add(std::uint8_t number, const paxos::Config& config, const MakeEnsemble& make) {
  const std::size_t index = inner_.size();
  const auto domain =
      static_cast<Domain>(number < layout_.ensembles ? 0 : number - layout_.ensembles + 1);
  auto& inner = inner_.emplace_back(std::make_unique<Inner>(
      *this, index, number, ensemble_cluster(config.cluster, number), domain));
  paxos::Config part = config;
  part.options = part_of(config.options, merge_.streams());
  part.cluster = inner->cluster;
  part.log = log_ == nullptr ? nullptr : &log_->of(index);
  part.owed = nullptr;
  part.left_out = &left_out_;
  part.part = number;
  part.merger = inner.get();
  part.first_candidate = domain == 0 ? number : 0;
  part.far_behind = config.options.max_gap;
  if (domain != 0) {
    const NodeList nodes =
        ridge::part_of(layout_, domain, {config.nodes_hash, config.universe, config.acceptors});
    part.universe = nodes.nodes;
    part.acceptors = nodes.acceptors;
    inner->others = nodes.nodes;
    std::erase(inner->others, self_.node);
  }
  inner->engine = make(part, pool_, *inner);
}

Ensembles::~Ensembles() = default;

// ---- inputs ----

/// Makes `call` for each ensemble, then handles the results.
template <class Call>
void Ensembles::each(Instant now, Effects& out, Call call) {
  if (stopped_) return;
  now_ = now;
  out_ = &out;
  for (const auto& inner : inner_) {
    if (!stopped_) call(*inner->engine, *inner);
  }
  if (!stopped_) pump();
  out_ = nullptr;
}

void Ensembles::start(Instant now, Effects& out) {
  out_ = &out;
  if (!has_log_) stop("a log of this node cannot be read, or is one of fewer or more ensembles");
  each(now, out, [now](Engine& engine, Effects& to) { engine.start(now, to); });
}

void Ensembles::on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) {
  if (stopped_) return;
  now_ = now;
  out_ = &out;
  const std::optional<std::uint64_t> cluster = wire::cluster_of(packet.view());
  std::size_t to = 0;  // a packet for no ensemble goes to the first ensemble, which counts the drop
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    if (cluster == inner_[i]->cluster) to = i;
  }
  inner_[to]->engine->on_packet(now, lane, packet, *inner_[to]);
  if (!stopped_) pump();
  out_ = nullptr;
}

void Ensembles::on_timer(Instant now, Effects& out) {
  each(now, out, [now](Engine& engine, Effects& to) {
    const std::optional<Instant> due = engine.next_deadline();
    if (due && *due <= now) engine.on_timer(now, to);
  });
}

void Ensembles::on_work(Instant now, Effects& out) {
  each(now, out, [now](Engine& engine, Effects& to) { engine.on_work(now, to); });
}

void Ensembles::on_durable(Instant now, Effects& out) {
  each(now, out, [now](Engine& engine, Effects& to) { engine.on_durable(now, to); });
}

void Ensembles::on_pause(Instant now, Duration gap, Effects& out) {
  each(now, out, [=](Engine& engine, Effects& to) { engine.on_pause(now, gap, to); });
}

void Ensembles::on_drained(Instant now, Effects& out) {
  each(now, out, [now](Engine& engine, Effects& to) { engine.on_drained(now, to); });
}

void Ensembles::leave(Instant now, Effects& out) {
  if (stopped_) return;
  now_ = now;
  out_ = &out;
  for (const auto& inner : inner_) inner->engine->leave(now, *inner);
  stopped_ = true;
  out_ = nullptr;
}

void Ensembles::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  each(now, out, [&](Engine& engine, Inner& to) {
    if (to.domain == 0) return engine.set_nodes(now, nodes, to);
    const NodeList part = ridge::part_of(layout_, to.domain, nodes);
    to.may_learn(part.nodes);
    engine.set_nodes(now, part, to);
  });
}

NodesWait Ensembles::nodes_wait() const {
  for (const auto& inner : inner_) {
    const NodesWait wait = inner->engine->nodes_wait();
    if (wait.kind != NodesWait::Kind::nothing) return wait;
  }
  return {};
}

std::optional<Instant> Ensembles::next_deadline() const {
  if (stopped_) return std::nullopt;
  if (more_) return Instant{};
  std::optional<Instant> next = line_.next_tick();
  for (const auto& inner : inner_) {
    const std::optional<Instant> due = inner->engine->next_deadline();
    if (due && (!next || *due < *next)) next = due;
    if (inner->want_at && (!next || *inner->want_at < *next)) next = inner->want_at;
  }
  return next;
}

void Ensembles::stop(std::string_view reason) {
  if (std::exchange(stopped_, true)) return;
  out_->fatal(reason);
}

// ---- results of an input ----

void Ensembles::pump() {
  make_ready();
  more_ = true;
  for (int pass = 0; pass < kPassesMax && more_; ++pass) {
    more_ = merge_some();
    let_others_pass();
    feed();
  }
}

// After a view of the first ensemble has admitted this node, the node needs all values of all
// ensembles. So this node first joins the views of the other ensembles, then a view of the first
// ensemble. It joins no view while it may still need a checkpoint in some ensemble.
void Ensembles::make_ready() {
  bool near = true;
  bool in_others = true;
  std::uint64_t from = 0;
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const paxos::Ensemble& engine = *inner_[i]->engine;
    near = near && engine.near();
    if (i == 0) continue;
    in_others = in_others && engine.joined();
    from = std::max(from, engine.from());
  }
  ready_ = inner_.front()->engine->joined() || (near && in_others);
  inner_.front()->engine->set_ready(ready_, from);
  for (std::size_t i = 1; i < inner_.size(); ++i) inner_[i]->engine->set_ready(near, 0);
}

// Calls the ensembles that can take units, and the ensembles that waited for space for their
// results.
void Ensembles::feed() {
  for (std::size_t i = 0; i < inner_.size() && !stopped_; ++i) {
    Inner& inner = *inner_[i];
    const std::size_t before = inner.handed.size();
    if (inner.backlog_units() == 0 && !inner.starved) continue;
    inner.starved = false;
    inner.engine->on_work(now_, inner);
    if (inner.handed.size() != before) more_ = true;
  }
}

// ---- reports ----

void Ensembles::Inner::multicast(Lane lane, const BufferRef& packet) {
  if (domain == 0) return all_.out_->multicast(lane, packet);
  for (const NodeId node : others) all_.out_->send(node, lane, packet);
}

/// Adds `nodes` to `others`. `nodes` is the domain's part of a list that may not be active yet.
void Ensembles::Inner::may_learn(const std::vector<NodeId>& nodes) {
  for (const NodeId node : nodes) {
    const auto at = std::lower_bound(others.begin(), others.end(), node);
    if (node != all_.self_.node && (at == others.end() || *at != node)) others.insert(at, node);
  }
}

void Ensembles::Inner::report(const Event& event) {
  if (event.kind == &event::view_installed) return;  // Ensembles::install() reports merged views
  if (event.kind == &event::nodes_adopted) {
    adopted_list = event.a;
    return all_.adopted(event);
  }
  // Each ensemble reports such an event for the whole node, so pass on one of the reports.
  const bool once = event.kind == &event::paused || event.kind == &event::nodes_not_given;
  if (!once || index_ == 0) all_.out_->report(event);
}

/// Reports a list of nodes as active once it is active in all ensembles.
void Ensembles::adopted(const Event& event) {
  const bool all = std::all_of(inner_.begin(), inner_.end(),
                               [&](const auto& inner) { return inner->adopted_list == event.a; });
  if (all) out_->report({event.kind, view_, event.who, event.a, event.b});
}

}  // namespace peal::order::ridge
