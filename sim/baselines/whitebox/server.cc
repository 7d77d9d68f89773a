// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/server.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim::genuine::whitebox {
namespace {

constexpr order::WaitKind kWaitsForDomain{
    "domain", "majorities of all domains of a message; {who} {has} not acknowledged it",
    "majorities of all domains of a message"};

}  // namespace

Server::Server(const Layout& layout, const Options& options, Post& post, std::uint64_t first_clock)
    : layout_(layout),
      options_(options),
      post_(post),
      roster_(layout, post.self()),
      store_(roster_.domain(), first_clock, options.retain),
      hearing_(roster_, options.suspect),
      parts_{layout_, options_, post_, roster_, store_, rounds_, hearing_},
      leader_role_(parts_),
      follower_(parts_),
      takeover_(parts_) {}

// ---- packets ----

void Server::on_frame(Instant now, const Frame& frame, order::Effects& out) {
  const MemberId& from = frame.sender;
  switch (static_cast<Kind>(frame.kind)) {
    case Kind::beat: {
      const bool own = layout_.domain_of(from.node) == roster_.domain();
      Beat beat;
      if (own && read(frame.body, roster_, beat)) on_beat(now, from, beat, out);
      return;
    }
    case Kind::multicast: {
      Multicast multicast;
      if (read(frame.body, layout_, multicast)) on_multicast(now, from, multicast, out);
      return;
    }
    case Kind::accept: {
      Accept accept;
      const bool right = read(frame.body, layout_, accept) && accept.head.to.has(roster_.domain());
      if (right && roster_.known()) follower_.on_accept(from, accept, out);
      return;
    }
    case Kind::ack: {
      Ack ack;
      const bool right = read(frame.body, layout_, ack) && ack.head.to.has(roster_.domain()) &&
                         ack.head.to.has(layout_.domain_of(from.node));
      if (right) leader_role_.on_ack(now, from, ack, out);
      return;
    }
    case Kind::deliver: {
      Deliver deliver;
      const bool right =
          read(frame.body, layout_, deliver) && deliver.head.to.has(roster_.domain());
      if (right) follower_.on_deliver(now, from, deliver, out);
      return;
    }
    case Kind::entry: {
      Entry entry;
      const bool right = read(frame.body, layout_, entry) && entry.head.to.has(roster_.domain());
      if (right) follower_.on_entry(now, from, entry, out);
      return;
    }
    case Kind::fetch: {
      std::uint64_t after = 0;
      const bool right = read_fetch(frame.body, after) && roster_.is_member(from);
      if (right) follower_.on_fetch(from.node, after, out);
      return;
    }
    case Kind::new_leader: {
      NewLeader asked;
      const bool right = read(frame.body, asked) && roster_.known();
      if (right && takeover_.on_new_leader(from, asked, out)) after_promise(now, out);
      return;
    }
    case Kind::part: {
      Part part;
      if (!read(frame.body, part) || !takeover_.on_part(now, from, part, out)) return;
      leader_seen_ = now;
      follower_.acknowledge_all(out);
      send_beats(now, out);
      return;
    }
    case Kind::get: {
      Get get;
      if (read(frame.body, get)) takeover_.on_get(from, get, out);
      return;
    }
    case Kind::reply: return;
  }
}

void Server::on_multicast(Instant now, const MemberId& from, const Multicast& multicast,
                          order::Effects& out) {
  if (!multicast.head.to.has(roster_.domain()) || !roster_.known()) return;
  Message* message = store_.know(multicast.head);
  if (message == nullptr) return;
  const bool ordered = store_.is_ordered(multicast.head);
  if (message->body == nullptr) {
    const ByteView bytes = multicast.body;
    message->body = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  }
  if (ordered) parts_.reply(out, *message);
  if (!rounds_.leading) {
    message->asked = message->asked || from == multicast.head.sender;
    const NodeId leader = leader_of(rounds_.current);
    const bool useful = !multicast.forwarded && leader != post_.self().node && leader != from.node;
    if (!useful) return;
    Multicast onward = multicast;
    onward.forwarded = true;
    return parts_.send(out, leader, Kind::multicast, Lane::data, onward);
  }
  if (ordered || message->stamp != 0) return leader_role_.answer(*message, out);
  leader_role_.propose(now, store_.stream_of(multicast.head), out);
}

void Server::on_beat(Instant now, const MemberId& from, const Beat& beat, order::Effects& out) {
  roster_.heard(from, beat.members);
  if (!roster_.is_member(from)) return;
  hearing_.hear(now, from.node, beat);
  follower_.told(beat.tip);
  if (beat.leading && beat.current >= rounds_.promised) leader_seen_ = now;
  static_cast<void>(out);
}

/// The old leader is not followed any more: the new one gets time.
void Server::after_promise(Instant now, order::Effects& out) {
  leader_seen_ = now;
  challenged_at_.reset();
  send_beats(now, out);
}

// ---- signs of life, and who leads ----

/// A server that does not hear a majority must not lead: it would not learn that another one does.
bool Server::is_fit(Instant now) const {
  return roster_.known() && !takeover_.holds_back(now) &&
         hearing_.live_count(now, post_.self().node) >= parts_.majority();
}

void Server::send_beats(Instant now, order::Effects& out) {
  next_beat_ = now + options_.beat;
  Beat beat;
  beat.members = roster_.members();
  beat.promised = rounds_.promised;
  beat.current = rounds_.current;
  beat.fit = is_fit(now);
  beat.leading = rounds_.leading && beat.fit;
  beat.tip = store_.tip();
  beat.applied = store_.applied();
  parts_.for_others([&](NodeId node) { parts_.send(out, node, Kind::beat, Lane::control, beat); });
}

Ballot Server::highest_promise() const {
  Ballot highest = rounds_.promised;
  for (const auto& [node, peer] : hearing_.peers()) {
    highest = std::max(highest, peer.said.promised);
  }
  return highest;
}

/// The first fit server takes over if nobody leads. A leader that a server has left for a higher
/// ballot, which did not come about, leads anew.
void Server::consider_takeover(Instant now, order::Effects& out) {
  if (!installed_ || takeover_.collects() || !is_fit(now)) return;
  if (rounds_.leading) {
    if (highest_promise() == rounds_.promised) return challenged_at_.reset();
    if (!challenged_at_) challenged_at_ = now;
    if (now - *challenged_at_ < options_.suspect) return;
  } else {
    if (now - leader_seen_ < options_.suspect) return;
    for (const auto& [node, peer] : hearing_.peers()) {
      const bool before = node < post_.self().node;
      if (before && hearing_.is_live(now, node) && peer.said.fit) return;
    }
  }
  PEAL_PROBE("whitebox.takeover");
  leader_seen_ = now;
  takeover_.start(now, highest_promise(), out);
  after_promise(now, out);
}

void Server::tick(Instant now, order::Effects& out) {
  consider_takeover(now, out);
  takeover_.tick(now, out);
  follower_.tick(now, out);
  if (rounds_.leading) leader_role_.retry(now, out);
  if (now >= next_beat_) send_beats(now, out);
}

// ---- the view and the deliveries ----

void Server::install(Instant now, order::Effects& out) {
  installed_ = true;
  leader_seen_ = now;
  rounds_.promised = rounds_.current = ballot_of(1, roster_.nodes().front());
  rounds_.leading = leader_of(rounds_.current) == post_.self().node;
  roster_.install(out);
  send_beats(now, out);
}

bool Server::deliver_one(order::Host& host, Sender& sender, order::Effects& out) {
  if (store_.applied() >= store_.tip() || host.receive_room_units() == 0) return false;
  const Message& message = store_.at(store_.applied() + 1);
  BufferRef unit = post_.copy(message.body);
  if (!unit) return false;
  const Head& head = message.head;
  if (head.sender == post_.self()) sender.place(roster_.view(), head.number, message.key, out);
  order::Delivery delivery;
  delivery.view = roster_.view();
  delivery.seq = message.key;
  delivery.origin = head.sender;
  delivery.service = head.service;
  delivery.domains = layout_.to_host(head.to);
  delivery.unit = std::move(unit);
  delivered_ = std::max(delivered_, message.key);
  store_.apply_one();
  out.deliver(delivery);
  return true;
}

void Server::go_on(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
  if (!installed_ && roster_.known() && roster_.is_member(post_.self())) install(now, out);
  if (!installed_) return;
  if (takeover_.begins_to_lead()) {
    rounds_.leading = true;
    leader_role_.begin(now, out);
    send_beats(now, out);
  }
  const std::uint64_t before = store_.applied();
  while (deliver_one(host, sender, out)) {
  }
  store_.trim(needed_by_others(now));
  if (rounds_.leading && store_.applied() != before) leader_role_.propose_all(now, out);
}

/// Number of messages that all servers have that are heard. Others may lack more, and be lost.
std::uint64_t Server::needed_by_others(Instant now) const {
  std::uint64_t needed = store_.tip();
  parts_.for_others([&](NodeId node) {
    const Beat& said = hearing_.peer(node).said;
    const bool heard = hearing_.is_live(now, node) && said.fit;
    if (heard || PEAL_MUTANT(wb_retains_for_all)) needed = std::min(needed, said.tip);
  });
  return needed;
}

// ---- what others see ----

order::WaitReason Server::why(Instant now, bool waits) const {
  order::WaitReason why;
  const auto name = [&why](NodeId node) { why.all.push_back({node, 0}); };
  if (!installed_) {
    why.kind = &order::wait::gathering;
    why.all = roster_.awaited();
  } else if (hearing_.live_count(now, post_.self().node) < parts_.majority() ||
             takeover_.is_lost()) {
    why.kind = &order::wait::majority;
    parts_.for_others([&](NodeId node) {
      if (!hearing_.is_live(now, node)) name(node);
    });
  } else if (store_.applied() < store_.tip()) {
    why.kind = &order::wait::slow_application;
    name(post_.self().node);
  } else if (!rounds_.in_step()) {
    why.kind = &order::wait::coordinator;
  } else if (const Message* oldest = leader_role_.oldest(); rounds_.leading && oldest != nullptr) {
    why.kind = &kWaitsForDomain;
    for (const DomainId domain : oldest->head.to) {
      for (const NodeId node : layout_.nodes(domain)) {
        if (!oldest->acks.contains(node)) name(node);
      }
    }
  } else if (follower_.lags()) {
    why.kind = &order::wait::packet;
    why.seq = store_.tip() + 1;
  } else if (waits) {
    why.kind = &kWaitsForDomain;
  }
  if (!why.all.empty()) why.who = why.all.front();
  return why;
}

void Server::check_invariants() const {
  PEAL_ASSERT(store_.applied() <= store_.tip());
  PEAL_ASSERT(store_.retained() <= std::size_t{store_.retain()} + 4 * options_.max_gap);
  PEAL_ASSERT(rounds_.current <= rounds_.promised);
}

}  // namespace peal::sim::genuine::whitebox
