// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/fabric.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "io/fabric/atomic_copy.h"

namespace peal::io::fabric {
namespace {

Unexpected<IoError> refuse_options(const std::string& why) {
  return unexpected(IoError{Errc::invalid_option, why});
}

}  // namespace

Result<std::unique_ptr<Fabric>, IoError> Fabric::open(Options options, VerbsOpener open_device) {
  if (options.choice == Choice::shm && options.socket.empty()) {
    return refuse_options(
        "fabric = \"shm\": no Unix socket is configured: name one, or set fabric = \"tcp\"");
  }
  if (options.choice == Choice::tcp && options.at.is_unspecified()) {
    return refuse_options("fabric = \"tcp\": this node has no address: give it one");
  }
  if (options.socket.empty() && options.at.is_unspecified()) {
    return refuse_options("fabric: this node has no address and no Unix socket: give it one");
  }
  std::erase_if(options.peers, [&](const Peer& peer) { return peer.node == options.self.node; });
  std::sort(options.peers.begin(), options.peers.end(),
            [](const Peer& a, const Peer& b) { return a.node < b.node; });
  std::unique_ptr<Fabric> fabric(new Fabric(std::move(options), open_device));
  if (fabric->options_.choice == Choice::verbs && !fabric->verbs_.is_usable()) {
    return refuse_options("fabric = \"verbs\": " + fabric->verbs_.problem);
  }
  const auto listening = fabric->incoming_.listen();
  if (!listening) return unexpected(listening.error());
  return fabric;
}

Fabric::Fabric(Options options, VerbsOpener open_device)
    : options_(std::move(options)),
      verbs_(open_verbs(options_, open_device)),
      regions_(options_.limits.exposed_bytes_max),
      incoming_(options_, regions_, counters_, offences_, verbs_) {
  for (const Peer& peer : options_.peers) {
    outgoing_.push_back(
        std::make_unique<OutgoingLink>(options_, peer, counters_, offences_, ends_, verbs_));
  }
}

Fabric::~Fabric() {
  if (loop_ != nullptr) loop_->watch_memory(nullptr);
}

Result<void, IoError> Fabric::attach(Loop& loop) {
  PEAL_ASSERT(loop_ == nullptr);
  const auto attached = incoming_.attach(loop);
  if (!attached) return attached;
  if (verbs_.device != nullptr) {
    const auto watched = verbs_.device->attach(loop);
    if (!watched) return watched;
  }
  for (const auto& link : outgoing_) link->attach(loop);
  loop.watch_memory(this);
  loop_ = &loop;
  return {};
}

// ---- the owner's side ----

Result<void, Errc> Fabric::expose(const port::Region& region, port::Epoch epoch,
                                  std::size_t bytes) {
  drop(region);
  const auto exposed = regions_.expose(region, epoch, bytes);
  if (!exposed) return exposed;
  Regions::Exposure exposure;
  const bool found = regions_.find(region, exposure);
  PEAL_ASSERT(found);
  incoming_.expose(exposure);
  return {};
}

void Fabric::revoke(const port::Region& region) {
  Regions::Exposure exposure;
  if (!regions_.find(region, exposure)) return;
  if (regions_.is_exposed(region, exposure.epoch)) ++counters_.revoked;
  incoming_.revoke(exposure);
  regions_.revoke(region);
}

void Fabric::drop(const port::Region& region) {
  Regions::Exposure exposure;
  if (!regions_.find(region, exposure)) return;
  incoming_.withdraw(exposure);
  regions_.drop(region);
}

// ---- the writer's side ----

void Fabric::write(const port::Place& place, ByteView bytes, std::uint64_t token) {
  PEAL_ASSERT(!bytes.empty());
  OutgoingLink* link = link_to(place.owner.node);
  if (link == nullptr) return ends_.add(token, port::WriteEnd::down, unknown_);
  link->write(place, bytes, token);
}

OutgoingLink* Fabric::link_to(NodeId peer) {
  const auto place =
      std::lower_bound(options_.peers.begin(), options_.peers.end(), peer,
                       [](const Peer& each, NodeId node) { return each.node < node; });
  if (place == options_.peers.end() || place->node != peer) return nullptr;
  return outgoing_[static_cast<std::size_t>(place - options_.peers.begin())].get();
}

// ---- turns ----

bool Fabric::receive(Instant now) {
  bool more = incoming_.receive(now);
  for (const NodeId node : incoming_.take_new()) {
    if (OutgoingLink* link = link_to(node)) link->hint(now);
  }
  for (const auto& link : outgoing_) more = link->receive(now) || more;
  return more;
}

bool Fabric::take_news() {
  const bool arrived = incoming_.take_arrivals();
  return arrived || !ends_.empty();
}

void Fabric::flush(Instant now) {
  for (const auto& link : outgoing_) link->flush(now);
  incoming_.flush();
}

std::optional<Instant> Fabric::next_deadline() const {
  std::optional<Instant> next = incoming_.next_deadline();
  for (const auto& link : outgoing_) {
    const auto due = link->next_deadline();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

bool Fabric::has_news() const {
  return !ends_.empty() || incoming_.has_arrivals() ||
         std::any_of(outgoing_.begin(), outgoing_.end(),
                     [](const auto& link) { return link->has_news(); });
}

bool Fabric::prepare_sleep() {
  asleep_ = true;
  incoming_.arm();
  for (const auto& link : outgoing_) link->arm();
  full_fence();
  return !has_news();
}

void Fabric::end_sleep() {
  if (std::exchange(asleep_, false)) incoming_.disarm();
}

// ---- changes and status ----

void Fabric::set_keys(Instant now, std::optional<seal::Keys> keys) {
  options_.keys = std::move(keys);
  incoming_.on_keys();
  for (const auto& link : outgoing_) link->on_keys(now);
}

void Fabric::set_address(Instant now, NodeId peer, const Endpoint& at) {
  OutgoingLink* link = link_to(peer);
  if (link == nullptr) return;
  for (Peer& each : options_.peers) {
    if (each.node != peer || each.at == at) continue;
    each.at = at;
    link->on_address(now);
  }
}

const std::string& Fabric::verbs_failure() const {
  static const std::string kNone;
  if (!verbs_.has_failed) return kNone;
  if (options_.choice == Choice::verbs) return verbs_.problem;
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    if (outgoing_[i]->kind() == Kind::tcp) return verbs_.problem;
    if (incoming_.kind_of(options_.peers[i].node) == Kind::tcp) return verbs_.problem;
  }
  return kNone;
}

std::vector<PeerStatus> Fabric::status() const {
  std::vector<PeerStatus> all;
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    PeerStatus status;
    status.node = options_.peers[i].node;
    status.incoming = incoming_.kind_of(status.node);
    outgoing_[i]->fill(status);
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace peal::io::fabric
