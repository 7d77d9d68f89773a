// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/server.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::sim::genuine::literal {

Server::Server(const Layout& layout, const Options& options, const Places& places, Post& post,
               Links& links, std::uint64_t first_clock)
    : options_(options),
      post_(post),
      roster_(layout, post.self()),
      store_(roster_.domain(), first_clock, options.slots),
      parts_{layout, options_, places, post, links, roster_, store_, standing_, peers_},
      leader_(parts_),
      deliveries_(parts_),
      tasks_(parts_, leader_, deliveries_),
      takeover_(parts_, tasks_, leader_) {
  for (const NodeId node : roster_.nodes()) {
    if (node != post.self().node) peers_[node];
  }
}

void Server::on_frame(Instant now, const Frame& frame, order::Effects& out) {
  const MemberId& from = frame.sender;
  const bool near = parts_.layout.domain_of(from.node) == roster_.domain();
  wire::ByteReader in = frame.body;
  switch (static_cast<Kind>(frame.kind)) {
    case Kind::beat:
      if (near) on_beat(now, from, in);
      return;
    case Kind::relay: {
      const Head head = read_head(in, parts_.layout);
      const ByteView unit = in.bytes(in.remaining());
      const bool right = !in.failed() && !unit.empty() && head.to.has(roster_.domain());
      if (right && installed_) tasks_.on_relay(now, head, unit);
      return;
    }
    case Kind::pull: {
      const Head head = read_head(in, parts_.layout);
      if (!in.failed() && head.to.has(roster_.domain())) tasks_.on_pull(from.node, head, out);
      return;
    }
    case Kind::new_leader:
      if (installed_ && takeover_.on_new_leader(from, in, out)) leader_seen_ = now;
      return;
    case Kind::part:
      if (!installed_ || !takeover_.on_part(from, in)) return;
      leader_seen_ = now;
      return send_beats(out);
    case Kind::hello: return;
  }
}

// ---- signs of life, and who leads ----

void Server::send_beats(order::Effects& out) {
  parts_.for_others([&](NodeId node) {
    post_.send(out, node, number(Kind::beat), Lane::control, [&](wire::Writer& in) {
      roster_.write(in);
      in.u(standing_.promised);
      in.u(standing_.current);
      in.u(static_cast<std::uint8_t>(standing_.leads && standing_.active));
      in.u(standing_.delivered);
    });
  });
}

void Server::on_beat(Instant now, const MemberId& from, wire::ByteReader in) {
  Beat beat;
  beat.members = roster_.read(in);
  beat.promised = in.u<Round>();
  beat.current = in.u<Round>();
  beat.leading = in.u<std::uint8_t>() != 0;
  beat.delivered = in.u<Key>();
  if (in.failed()) return;
  roster_.heard(from, beat.members);
  if (!roster_.is_member(from)) return;
  Peer& peer = peers_[from.node];
  peer.heard = now;
  // Packets overtake each other.
  if (beat.current >= peer.said.current && beat.delivered >= peer.said.delivered) peer.said = beat;
  if (beat.leading && beat.current >= standing_.promised) {
    leader_seen_ = now;
    if (beat.current == standing_.current && standing_.in_step()) standing_.active = true;
  }
  takeover_.note_members();
}

bool Server::is_fit(Instant now) const {
  std::size_t count = 1;
  parts_.for_others(
      [&](NodeId node) { count += parts_.is_live(now, node, options_.suspect) ? 1U : 0U; });
  return count >= parts_.majority() && !takeover_.holds_back(now);
}

/// The first server that hears a majority takes over if nobody leads.
void Server::consider_takeover(Instant now, order::Effects& out) {
  if (!installed_ || takeover_.collects() || !is_fit(now)) return;
  if (standing_.leads && standing_.active) leader_seen_ = now;
  Round highest = standing_.promised;
  for (const auto& [node, peer] : peers_) highest = std::max(highest, peer.said.promised);
  const bool overtaken = standing_.leads && highest > standing_.promised;
  if (overtaken) standing_.leads = standing_.active = false;
  if (now - leader_seen_ < options_.suspect) return;
  for (const auto& [node, peer] : peers_) {
    if (node < post_.self().node && parts_.is_live(now, node, options_.suspect)) return;
  }
  PEAL_PROBE("literal.takeover");
  leader_seen_ = now;
  takeover_.start(now, highest, out);
}

void Server::tick(Instant now, order::Effects& out) {
  consider_takeover(now, out);
  takeover_.note_members();
  takeover_.tick(now, out);
  if (installed_) {
    tasks_.retry(now, out);
    deliveries_.release(now, delivered_by_all(now));
  }
  send_beats(out);
}

void Server::on_pause(Instant now) {
  leader_seen_ = now;
  for (auto& [node, peer] : peers_) {
    if (peer.heard) peer.heard = now;
  }
}

/// Servers that have been silent for very long do not count.
Key Server::delivered_by_all(Instant now) const {
  Key least = standing_.delivered;
  parts_.for_others([&](NodeId node) {
    if (!parts_.is_live(now, node, options_.dead())) return;
    least = std::min(least, peers_.at(node).said.delivered);
  });
  return least;
}

std::uint64_t Server::own_released(Instant now) const {
  const auto own = store_.streams().find(post_.self());
  if (own == store_.streams().end()) return 0;
  const Key all = delivered_by_all(now);
  std::uint64_t index = own->second.done;
  while (index > 0) {
    const auto found = own->second.messages.find(index);
    if (found == own->second.messages.end() || found->second.key <= all) break;
    --index;
  }
  return index;
}

// ---- the view and the deliveries ----

void Server::install(Instant now, order::Effects& out) {
  installed_ = true;
  leader_seen_ = now;
  const MemberId first = roster_.members().front();
  standing_.promised = standing_.current = round_of(1, first.node);
  standing_.leads = first == post_.self();
  if (!standing_.leads) parts_.links.expose_log(first, standing_.promised);
  roster_.install(out);
  send_beats(out);
}

void Server::go_on(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
  if (!installed_ && roster_.known() && roster_.is_member(post_.self())) install(now, out);
  if (!installed_) return;
  takeover_.note_members();
  while (tasks_.run(now, host, sender, out)) {
  }
}

order::WaitReason Server::why(Instant now, bool waits) const {
  order::WaitReason why;
  if (!installed_) {
    why.kind = &order::wait::gathering;
    why.all = roster_.awaited();
  } else if (!is_fit(now)) {
    why.kind = &order::wait::majority;
    parts_.for_others([&](NodeId node) {
      if (!parts_.is_live(now, node, options_.suspect)) why.all.push_back({node, 0});
    });
  } else if (!standing_.in_step() || !standing_.active) {
    why.kind = &order::wait::coordinator;
  } else if (waits || !store_.open().empty()) {
    why.kind = &order::wait::packet;
  }
  if (!why.all.empty()) why.who = why.all.front();
  return why;
}

void Server::check_invariants() const {
  PEAL_ASSERT(standing_.current <= standing_.promised);
  for (const auto& [client, stream] : store_.streams()) {
    PEAL_ASSERT(stream.messages.size() <= options_.slots);
  }
}

}  // namespace peal::sim::genuine::literal
