// SPDX-License-Identifier: Apache-2.0
#include "session/sessions.h"

#include "session/core.h"

namespace peal::session {

Sessions::Sessions(const Options& options, Host& host, Spool& spool)
    : core_(std::make_unique<Core>(options, host, spool)) {}
Sessions::~Sessions() = default;

void Sessions::reconfigure(Instant now, const Options& options) {
  core_->reconfigure(now, options);
}

void Sessions::accepted(Instant now, ConnectionId connection, const Identity& identity) {
  core_->accepted(now, connection, identity);
}
std::size_t Sessions::received(Instant now, ConnectionId connection, ByteView bytes) {
  return core_->received(now, connection, bytes);
}
std::span<const ByteView> Sessions::output(ConnectionId connection) {
  return core_->output(connection);
}
RegionId Sessions::region_of(ConnectionId connection) const { return core_->region_of(connection); }
void Sessions::written(Instant now, ConnectionId connection, std::size_t bytes) {
  core_->written(now, connection, bytes);
}
void Sessions::closed(Instant now, ConnectionId connection) { core_->closed(now, connection); }
void Sessions::take_wanted(Wanted& out) { core_->take_wanted(out); }

void Sessions::on_view(Instant now, const order::View& view, MemberId self) {
  core_->on_view(now, view, self);
}
void Sessions::on_message(Instant now, const Delivered& message) {
  core_->on_message(now, message);
}
std::uint64_t Sessions::room_bytes() const { return core_->room_bytes(); }

void Sessions::on_room(Instant now) { core_->on_room(now); }
void Sessions::work(Instant now) { core_->work(now); }
std::optional<Instant> Sessions::next_deadline() const { return core_->next_deadline(); }
void Sessions::stop(Instant now) { core_->stop(now); }
bool Sessions::evict(Instant now, std::string_view private_name) {
  return core_->evict(now, private_name);
}

Status Sessions::status(Instant now, std::string_view prefix) const {
  return core_->status(now, prefix);
}
void Sessions::set_nodes(std::vector<NodeId> nodes) { core_->set_nodes(std::move(nodes)); }
const group::Groups& Sessions::groups() const { return core_->groups(); }
std::size_t Sessions::sessions() const { return core_->session_count(); }
std::size_t Sessions::connections() const { return core_->connection_count(); }
bool Sessions::idle() const { return core_->idle(); }
Sessions::Counters Sessions::counters() const { return core_->counters(); }

std::vector<order::Counter> Sessions::named_counters() const {
  const Counters all = core_->counters();
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

void Sessions::check_invariants() const { core_->check_invariants(); }
std::uint64_t Sessions::digest() const { return core_->digest(); }

}  // namespace peal::session
