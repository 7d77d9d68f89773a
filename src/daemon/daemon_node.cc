// SPDX-License-Identifier: Apache-2.0
// The calls between the node and the sessions.
#include <sys/random.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "daemon/daemon.h"
#include "trace/json.h"

namespace peal::daemon {
namespace {

/// The maximum number of passes in one feed(): a message may be delivered as soon as it is
/// submitted, and its delivery may cause further submissions.
constexpr int kPasses = 4;
/// Limit of the space, in units, reported to the engine; more space would make no difference.
constexpr std::uint32_t kRoomUnitsMax = 16'384;

/// While tables are exchanged, clients of this node can neither send nor join.
void tell_stall(Instant now, runtime::StallNotice& notice, const session::Sessions& sessions,
                Owner& owner) {
  if (!notice.is_due(now)) return;
  const std::string text = notice.look(now, sessions.groups_wait_for());
  if (!text.empty()) owner.on_warning(now, text);
}

}  // namespace

// ---- turns ----

void Daemon::on_turn_end(Instant now) {
  now_ = now;
  if (phase_ == Phase::ended) return;
  if (new_keys_) runtime_->set_keys(*std::exchange(new_keys_, std::nullopt));
  if (new_nodes_) {
    name_nodes(new_nodes_->nodes);
    runtime_->set_nodes(now, *std::exchange(new_nodes_, std::nullopt));
    set_session_nodes();
  }
  if (new_sessions_) sessions_->reconfigure(now, *std::exchange(new_sessions_, std::nullopt));
  feed(now);
  const std::uint32_t told = told_room_;
  if (told < kRoomUnitsMax && receive_room_units() > told) {
    runtime_->node().on_room(now);
    feed(now);
  }
  drain(now);
  tell_stall(now, stall_, *sessions_, owner_);
}

void Daemon::feed(Instant now) {
  for (int round = 0; round < kPasses; ++round) {
    if (std::exchange(room_again_, false)) sessions_->on_room(now);
    sessions_->work(now);
    if (!std::exchange(engine_has_work_, false)) return;
    runtime_->node().flush(now);
  }
}

void Daemon::on_publish() {
  more_ = connections_->carry_out(now_);
  // Writing to clients may have made space. Other members may wait for this space, so the engine is
  // notified in the next turn.
  room_grew_ = told_room_ < kRoomUnitsMax && room_units() > told_room_;
}

std::optional<Instant> Daemon::next_deadline() const {
  if (phase_ == Phase::ended) return std::nullopt;
  if (more_ || engine_has_work_ || room_grew_) return now_;
  std::optional<Instant> first;
  if (phase_ != Phase::serving) first = phase_end_;
  for (const auto& each : {sessions_->next_deadline(), connections_->next_deadline()}) {
    if (each && (!first || *each < *first)) first = each;
  }
  return first;
}

// ---- events of the node ----

void Daemon::on_message(const node::Message& message) {
  session::Delivered delivered;
  delivered.sender = message.sender;
  delivered.control = node::is_control(message.number);
  delivered.number = message.number;
  delivered.view = message.view;
  delivered.seq = message.seq;
  delivered.index = message.index;
  delivered.service = message.service;
  delivered.payload = message.payload;
  sessions_->on_message(now_, delivered);
  if (!delivered.control) owner_.on_message(node_name(message.sender.node), message);
}

void Daemon::on_view(const order::View& view) {
  sessions_->on_view(now_, view, runtime_->node().self());
  ViewNotice notice;
  notice.transitional = view.transitional;
  notice.id = trace::text_of(view.id, runtime_->names());
  notice.old = view.old.number == 0 ? "" : trace::text_of(view.old, runtime_->names());
  for (const MemberId& each : view.members)
    notice.members.push_back(trace::text_of(each, runtime_->names()));
  if (view.primary != order::Primary::unclaimed) {
    notice.primary = view.primary == order::Primary::yes;
  }
  notice.reason = runtime_->view_cause().text();
  owner_.on_view(now_, notice);
}

void Daemon::on_originate(const node::Origination& placed) {
  if (!node::is_control(placed.number)) {
    sessions_->on_placed(now_, placed.number, placed.seq, placed.view.number != 0);
  }
  if (std::exchange(was_full_, false)) room_again_ = true;
}

void Daemon::on_fatal(std::string_view reason) { fatal_ = std::string(reason); }

std::uint32_t Daemon::room_units() const {
  const std::uint64_t units = sessions_->room_bytes() / packet_bytes(options_.member);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(units, kRoomUnitsMax));
}

std::uint32_t Daemon::receive_room_units() const { return told_room_ = room_units(); }

runtime::Snapshot Daemon::node_status() const { return runtime::snapshot_of(*runtime_); }

// ---- requests of the sessions ----

Result<std::uint64_t, Errc> Daemon::submit(ByteView message, Service service, DomainSet domains) {
  engine_has_work_ = true;
  const auto number = runtime_->enqueue(message, service, domains);
  was_full_ = was_full_ || (!number && number.error() == Errc::would_block);
  return number;
}

void Daemon::replace_control(ByteView message, DomainSet domains) {
  engine_has_work_ = true;
  const auto replaced = runtime_->node().replace_control(message, Service::agreed, domains);
  PEAL_ASSERT(replaced || replaced.error() == Errc::closed);
}

std::uint64_t Daemon::block(bool blocked) {
  engine_has_work_ = true;
  return runtime_->node().block(blocked);
}

std::string_view Daemon::node_name(NodeId node) const {
  return node.value < node_names_.size() ? std::string_view(node_names_[node.value]) : "";
}

wire::SessionToken Daemon::draw_token() {
  wire::SessionToken token{};
  const ssize_t drawn = ::getrandom(token.data(), token.size(), 0);
  // A request of up to 256 bytes never returns fewer bytes.
  PEAL_ASSERT(drawn == static_cast<ssize_t>(token.size()));
  return token;
}

ByteSpan Daemon::open_region(session::RegionId id, std::uint32_t bytes) {
  const ByteSpan memory = regions_.open(id, bytes);
  // Without a region, clients get all events over their connections, which costs more.
  if (memory.empty()) owner_.on_warning(now_, regions_.reason());
  return memory;
}

session::Answer Daemon::ask(std::string_view what, bool admin) {
  return owner_.on_ask(what, admin);
}

}  // namespace peal::daemon
