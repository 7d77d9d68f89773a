// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/engine.h"

#include <algorithm>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"
#include "order/ramcast/explanation.h"

namespace peal::order::ramcast {
namespace {

/// Passes of one turn. What is then left is for the next one.
constexpr int kPassesOfATurn = 4;

NodeRole role_of(const Layout& layout, NodeId node) {
  const auto index = layout.index_of(node);
  PEAL_ASSERT(index);
  return layout.role(*index);
}

}  // namespace

RamcastEngine::RamcastEngine(const Config& config, BufferPool& packets, Host& host)
    : options_(config.options),
      self_(config.self),
      layout_(config.nodes, config.domains),
      parts_{options_,
             layout_,
             self_,
             *layout_.index_of(self_.node),
             role_of(layout_, self_.node).domain,
             role_of(layout_, self_.node).place,
             config.cluster,
             config.checksum,
             *config.memory,
             packets,
             host,
             clock_,
             standing_,
             counts_},
      links_(parts_),
      messages_(parts_),
      state_(parts_),
      outlet_(parts_, state_, *this),
      table_(parts_, links_),
      acks_(parts_, links_, messages_, table_, outlet_),
      reader_(parts_, links_.bad()),
      follower_(parts_, messages_, state_, outlet_, acks_, reader_, sender_),
      log_(parts_, links_),
      watch_(parts_, links_, state_, reader_),
      lead_(parts_, messages_, state_, outlet_, acks_, log_, watch_),
      takeover_(parts_, links_, messages_, state_, outlet_, reader_, config.seed),
      replies_(parts_, links_, messages_, state_),
      inbox_(parts_, links_, messages_),
      sender_(parts_, links_, inbox_, state_),
      repair_(parts_, messages_, inbox_, acks_),
      backlogs_(parts_, links_, messages_, state_, outlet_, watch_, reader_),
      members_(parts_, links_, messages_, state_, log_, lead_, takeover_, watch_),
      rounds_(parts_, links_, messages_, state_, follower_, lead_, takeover_, watch_, members_,
              replies_, repair_, backlogs_) {
  PEAL_ASSERT(validate(options_).empty());
  PEAL_ASSERT(packets.slab_bytes() >= options_.packet_bytes_max);
  clock_.raise(config.first_count);
  counters_.reserve(64);
}

void RamcastEngine::start(Instant now, Effects& out) {
  links_.start(now);
  watch_.start(now);
  turn(now, out);
}

// ---- inputs ----

void RamcastEngine::on_memory(Instant now, Effects& out) { turn(now, out); }

void RamcastEngine::on_work(Instant now, Effects& out) { turn(now, out); }

void RamcastEngine::on_timer(Instant now, Effects& out) { turn(now, out); }

void RamcastEngine::on_pause(Instant now, Duration gap, Effects& out) {
  if (gap >= options_.suspect / 2) {
    watch_.on_pause(now);
    links_.bad().on_pause();
  }
  turn(now, out);
}

void RamcastEngine::on_drained(Instant now, Effects& out) { turn(now, out); }

void RamcastEngine::leave(Instant /*now*/, Effects& /*out*/) {
  // The others notice the silence, as with a crash.
  left_ = true;
}

std::optional<Instant> RamcastEngine::next_deadline() const {
  if (left_) return std::nullopt;
  if (again_) return Instant{};
  std::optional<Instant> first = links_.deadline();
  const auto consider = [&first](std::optional<Instant> other) {
    if (other && (!first || *other < *first)) first = other;
  };
  consider(sender_.deadline());
  if (parts_.serves()) {
    consider(watch_.deadline());
    consider(takeover_.deadline());
    if (takes_part()) consider(repair_.deadline());
    consider(backlogs_.deadline());
  }
  return first;
}

// ---- a turn ----

void RamcastEngine::turn(Instant now, Effects& out) {
  if (left_) return;
  turned_ = now;
  links_.bad().begin_turn(now);
  links_.on_timer(now, out);
  if (parts_.serves()) {
    takeover_.on_timer(now, out);
    if (watch_.beat_is_due(now)) at_beat(now, out);
    backlogs_.on_timer(now, out);
  }
  messages_.restore();
  again_ = false;
  int passes = 0;
  while (pass(now, out)) {
    if (++passes < kPassesOfATurn) continue;
    again_ = true;
    break;
  }
  if (takes_part()) repair_.on_timer(now, out);
  sender_.on_timer(now, out);
  if (parts_.serves()) {
    watch_.write(now, outlet_.held());
    log_.flush();
    table_.flush(now);
    replies_.flush(now);
  }
  sender_.flush(now);
  links_.bad().report(state_.view().id, out);
}

void RamcastEngine::at_beat(Instant now, Effects& out) {
  replies_.hurry();
  backlogs_.tidy();
  for (const auto& row : messages_.rows()) {
    const MemberId& newest = row->node == parts_.index ? self_ : links_.peer(row->node);
    const bool former = row->sender.epoch < newest.epoch;
    if (!former || row->records.empty() || !row->is_finished()) continue;
    // Members still count the rows whose messages they do not know to be released.
    if (!watch_.is_released_everywhere(row->last_key())) continue;
    if (!outlet_.refers_to(*row) && !lead_.refers_to(*row)) messages_.shrink(*row);
  }
  rounds_.watch(now, out);
}

/// One look at everything that may have changed. True if anything has.
bool RamcastEngine::pass(Instant now, Effects& out) {
  finish_writes(now);
  bool changed = parts_.serves() && serve(now, out);
  changed = sender_.read(out) || changed;
  return sender_.pull(now) || changed;
}

bool RamcastEngine::serve(Instant now, Effects& out) {
  bool changed = watch_.read(now, log_);
  if (!takes_part()) return changed;
  changed = follower_.read(now) || changed;
  if (standing_.has_order()) changed = inbox_.read(now) || changed;
  changed = acks_.read() || changed;
  if (const wire::Control* leader = watch_.leader_cell()) {
    reader_.note_written(leader->mark_entry);
    if (standing_.in_step()) outlet_.note_mark(leader->mark_entry, leader->mark_clock);
  }
  changed = rounds_.try_to_lead(now, out) || changed;
  changed = lead_.advance() || changed;
  changed = acks_.advance_touched() || changed;
  if (outlet_.deliver(out)) {
    messages_.tidy();
    changed = true;
  }
  release();
  members_.give_bases();
  return changed;
}

void RamcastEngine::finish_writes(Instant now) {
  Links::Done done;
  while (links_.next_done(now, done)) {
    if (done.area == Area::cells) table_.on_done(done.node);
    if (done.end == port::WriteEnd::down && is_near(done.node)) watch_.on_down(now, done.node);
    if (done.area != Area::log) continue;
    if (done.end == port::WriteEnd::ok) {
      log_.on_done(done.node, done.value);
    } else if (done.end == port::WriteEnd::denied && log_.is_current(done.node, done.value)) {
      rounds_.step_down();
    }
  }
}

void RamcastEngine::on_opened(NodeIndex node) {
  if (parts_.serves()) {
    table_.on_open(node);
    log_.on_open(node);
    replies_.on_open(node);
  }
  sender_.on_open(node);
}

void RamcastEngine::on_delivery(const Record& record, Effects& out) {
  if (record.id.sender == self_) {
    sender_.on_delivery(record.id.number, record.key, out);
  } else {
    sender_.note_key(record.key);
  }
  replies_.on_delivery(record);
}

bool RamcastEngine::may_deliver(const Record& record) const {
  return record.id.sender != self_ || sender_.knows_all_before(record.id.number) ||
         PEAL_MUTANT(rc_places_out_of_order);
}

void RamcastEngine::on_view(const wire::DomainView& before) {
  watch_.on_view();
  backlogs_.retain(before);
  members_.on_view(before);
}

void RamcastEngine::release() {
  if (!state_.has_view()) return;
  messages_.release(watch_.delivered_by_all());
  if (const Row* own = messages_.find_row(self_)) {
    sender_.on_released(parts_.domain, own->released);
  }
}

// ---- status ----

WaitReason RamcastEngine::why() const {
  return Explanation(parts_, links_, messages_, state_, outlet_, log_, watch_, sender_, backlogs_)
      .why(turned_);
}

std::optional<Leadership> RamcastEngine::leadership() const {
  const wire::Round& round = standing_.promised;
  if (!parts_.serves() || !standing_.in_step() || round == wire::Round{}) return std::nullopt;
  const auto leader = layout_.index_of(round.coordinator.node);
  if (!leader || !watch_.trusts(turned_, layout_.role(*leader).place)) return std::nullopt;
  return Leadership{round.coordinator, number_in_order(round)};
}

std::span<const Counter> RamcastEngine::counters() const {
  counters_.clear();
  const auto add = [&](std::string_view name, std::uint64_t value) {
    counters_.push_back({name, value});
  };
  add("domain_leads", leads() ? 1 : 0);
  add("domain_order", order_of(standing_.promised));
  add("domain_round", number_in_order(standing_.promised));
  add("domain_known_since", state_.known_since());
  add("domain_position", state_.delivered());
  add("units_sent", counts_.units_sent);
  add("units_taken", counts_.units_taken);
  add("proposals", counts_.proposals);
  add("acknowledged", counts_.acknowledged);
  add("delivered", counts_.delivered);
  add("writes", counts_.writes);
  add("writes_denied", counts_.denied);
  add("writes_down", counts_.down);
  add("refused", counts_.refused);
  add("takeovers", counts_.takeovers);
  add("rounds", counts_.rounds);
  add("views_installed", counts_.views);
  add("pulls", counts_.pulls);
  add("relays", counts_.relays);
  add("queries", counts_.queries);
  add("regrants", counts_.regrants);
  add("retained", counts_.retained);
  add("caught_up", counts_.caught_up);
  add("overwritten", messages_.overwritten().all().size());
  add("no_buffer", counts_.no_buffer);
  for (std::size_t i = 1; i < counts_.drops.size(); ++i) {
    add(wire::drop_name(static_cast<wire::Drop>(i)), counts_.drops[i]);
  }
  return counters_;
}

std::string RamcastEngine::describe() const {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  std::string text =
      "round " + number(number_in_order(standing_.promised)) + "/" +
      number(standing_.promised.coordinator.node.value) + " synchronized " +
      number(number_in_order(standing_.synchronized)) + " role " +
      number(static_cast<std::uint64_t>(standing_.role)) + (standing_.active ? " active" : "") +
      " clock " + number(clock_.value()) + " certified " + number(standing_.certified) +
      " blocked by " + number(outlet_.blocked_by()) + " delivered up to " +
      number(state_.delivered()) + " released up to " + number(messages_.released()) +
      " overwritten " + number(messages_.overwritten().all().size()) + " view " +
      number(state_.view().id.number) + (state_.is_member() ? "" : " outside");
  text += sender_.describe();
  for (const Record* record : messages_.pending()) {
    text += " [" + number(record->id.sender.node.value) + ":" + number(record->id.number) +
            (record->has_body ? "b" : "") + " stamp " + number(record->own.key) + " ack " +
            number(record->acknowledged) + " key " + number(record->key) + "]";
    if (text.size() > 600) break;
  }
  return text;
}

void RamcastEngine::check_invariants() const {
  messages_.check_invariants();
  outlet_.check_invariants();
  if (standing_.leads()) {
    PEAL_ASSERT(standing_.in_step() && standing_.promised.coordinator == self_);
  }
  if (standing_.active) PEAL_ASSERT(standing_.in_step() || left_);
}

std::uint64_t RamcastEngine::digest() const {
  Digest digest;
  digest.add(clock_.value());
  digest.add(standing_.promised.count);
  digest.add(standing_.entry);
  digest.add(static_cast<std::uint64_t>(standing_.role));
  messages_.add_to(digest);
  outlet_.add_to(digest);
  return digest.value();
}

}  // namespace peal::order::ramcast
