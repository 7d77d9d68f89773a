// SPDX-License-Identifier: Apache-2.0
#include "session/sessions.h"

#include <algorithm>
#include <utility>

#include "session/parts.h"

namespace peal::session {
namespace {

constexpr Duration kCheckEvery = milliseconds(10);

}  // namespace

Sessions::Parts::Parts(const Options& options, Host& host, Spool& spool)
    : context(options, host),
      groups(group_options(options), delivery),
      lifecycle(context, spool, chunks, registry, regions, backlog, groups) {}

Sessions::Sessions(const Options& options, Host& host, Spool& spool)
    : parts_(std::make_unique<Parts>(options, host, spool)) {}
Sessions::~Sessions() = default;

void Sessions::reconfigure(Instant now, const Options& options) {
  parts_->context.now = now;
  parts_->reconfiguration.begin(options);
}

// ---- connections ----

void Sessions::accepted(Instant now, ConnectionId connection, const Identity& identity) {
  parts_->context.now = now;
  parts_->connections.accepted(connection, identity);
}

std::size_t Sessions::received(Instant now, ConnectionId connection, ByteView bytes) {
  parts_->context.now = now;
  return parts_->connections.received(connection, bytes);
}

std::span<const ByteView> Sessions::output(ConnectionId connection) {
  return parts_->connections.output(connection);
}

RegionId Sessions::region_of(ConnectionId connection) const {
  return parts_->connections.region_of(connection);
}

void Sessions::written(Instant now, ConnectionId connection, std::size_t bytes) {
  parts_->context.now = now;
  parts_->connections.written(connection, bytes);
}

void Sessions::closed(Instant now, ConnectionId connection) {
  parts_->context.now = now;
  parts_->connections.closed(connection);
}

void Sessions::take_wanted(Wanted& out) { parts_->connections.take_wanted(out); }

// ---- the node ----

void Sessions::set_nodes(std::vector<NodeId> nodes) { parts_->groups.set_nodes(std::move(nodes)); }

void Sessions::on_view(Instant now, const order::View& view, MemberId self) {
  parts_->context.now = now;
  parts_->self = self;
  parts_->groups.on_view(view, self);
  // The members that moved together to this view delivered the same messages in the old view: these
  // messages are now acknowledged.
  if (!view.transitional) parts_->requests.settle();
}

void Sessions::on_message(Instant now, const Delivered& message) {
  parts_->context.now = now;
  parts_->groups.on_message(
      {message.sender, message.number, message.service, {message.seq, message.index}, message.view},
      message.payload);
  const bool own = !message.control && message.sender == parts_->self;
  if (own && !parts_->context.options.domains.is_disjoint()) {
    parts_->requests.on_delivered(message.number);
  }
}

void Sessions::on_placed(Instant now, std::uint64_t number, Seq seq, bool delivered) {
  parts_->context.now = now;
  if (!parts_->context.options.domains.is_disjoint()) return;
  parts_->groups.on_placed(number, seq, delivered);
  parts_->requests.on_placed(number);
}

std::uint64_t Sessions::room_bytes() const { return parts_->backlog.room_bytes(); }

void Sessions::on_room(Instant now) {
  parts_->context.now = now;
  parts_->connections.on_room();
}

// ---- time ----

void Sessions::work(Instant now) {
  std::optional<Instant>& next_check = parts_->context.next_check;
  parts_->context.now = now;
  if (next_check && *next_check <= now) {
    next_check.reset();
    parts_->connections.check();
    parts_->lifecycle.check();
    parts_->regions.check();
    if (next_check) next_check = std::max(*next_check, now + kCheckEvery);
  }
  parts_->lifecycle.end_due();
  parts_->reconfiguration.work();
  parts_->groups.work();
  parts_->requests.mark();
}

std::optional<Instant> Sessions::next_deadline() const {
  if (parts_->registry.has_ending() || parts_->reconfiguration.has_work()) {
    return parts_->context.now;
  }
  return parts_->context.next_check;
}

void Sessions::stop(Instant now) {
  parts_->context.now = now;
  parts_->lifecycle.stop();
  parts_->connections.stop();
}

bool Sessions::evict(Instant now, std::string_view private_name) {
  parts_->context.now = now;
  return parts_->lifecycle.evict(private_name);
}

// ---- status ----

const group::Groups& Sessions::groups() const { return parts_->groups; }
std::size_t Sessions::sessions() const { return parts_->registry.size(); }
std::size_t Sessions::connections() const { return parts_->connections.count(); }

bool Sessions::idle() const {
  return parts_->groups.is_settled() && !parts_->groups.has_work() &&
         parts_->requests.all_settled() && !parts_->registry.has_ending();
}

Counters Sessions::counters() const {
  Counters counters = parts_->context.counters;
  counters.shared = parts_->encoder.put();
  counters.shared_no_room = parts_->encoder.no_room();
  return counters;
}

std::vector<order::Counter> Sessions::named_counters() const {
  const Counters all = counters();
  return {{"session_connections", all.connections},
          {"session_sessions", all.sessions},
          {"session_resumed", all.resumed},
          {"session_turned_away", all.turned_away},
          {"session_bad_records", all.bad_records},
          {"session_messages", all.messages},
          {"session_refused", all.refused},
          {"session_settled", all.settled},
          {"session_markers", all.markers},
          {"session_events", all.events},
          {"session_shared", all.shared},
          {"session_shared_no_room", all.shared_no_room},
          {"session_left_out", all.left_out},
          {"session_gaps_away", all.gaps_away},
          {"session_spilled_bytes", all.spilled_bytes},
          {"session_read_back_bytes", all.read_back_bytes},
          {"session_evicted", all.evicted},
          {"session_silent", all.silent},
          {"session_warnings", all.warnings},
          {"session_memory_bytes_peak", all.memory_bytes_peak}};
}

void Sessions::check_invariants() const {
  parts_->registry.check_invariants();
  parts_->backlog.check_invariants();
  parts_->regions.check_invariants(parts_->registry);
  parts_->requests.check_invariants();
  parts_->connections.check_invariants();
  parts_->groups.check_invariants();
}

std::uint64_t Sessions::digest() const { return parts_->context.outcome.value(); }

}  // namespace peal::session
