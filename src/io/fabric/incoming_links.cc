// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/incoming_links.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "io/fabric/same_user.h"

namespace peal::io::fabric {
namespace {

constexpr Duration kAcceptPause = milliseconds(100);
constexpr mode_t kSocketMode = 0600;

}  // namespace

IncomingLinks::~IncomingLinks() {
  if (loop_ == nullptr) return;
  for (const Door& door : doors_) loop_->unwatch(door.listener->fd());
}

Result<void, IoError> IncomingLinks::listen() {
  // The Unix socket first: a peer that finds the other one would use tcp.
  const bool may_be_local = options_.choice == Choice::automatic || options_.choice == Choice::shm;
  if (may_be_local && !options_.socket.empty()) {
    auto listener = StreamListener::unix_socket(options_.socket, kSocketMode);
    if (listener) {
      doors_.push_back({std::move(*listener)});
    } else {
      const IoError& error = listener.error();
      const std::string why = "no shared memory: " + error.message;
      const bool others = options_.choice == Choice::automatic && !options_.at.is_unspecified();
      if (!others || error.code == Errc::address_in_use) {
        return unexpected(IoError{
            error.code, "fabric: " + why + ": make that possible, or set fabric = \"tcp\""});
      }
      problem_ = why;
    }
  }
  if (options_.choice != Choice::shm && !options_.at.is_unspecified()) {
    auto listener = StreamListener::tcp(options_.at, make_plain_stream);
    if (!listener) return unexpected(listener.error());
    doors_.push_back({std::move(*listener)});
  }
  return {};
}

Result<void, IoError> IncomingLinks::attach(Loop& loop) {
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    const auto watched = loop.watch(doors_[i].listener->fd(), EPOLLIN | EPOLLET,
                                    [this, i](std::uint32_t) { doors_[i].knocked = true; });
    if (watched) continue;
    while (i > 0) loop.unwatch(doors_[--i].listener->fd());
    return watched;
  }
  loop_ = &loop;
  return {};
}

Endpoint IncomingLinks::at() const {
  for (const Door& door : doors_) {
    if (!door.listener->is_local()) return door.listener->endpoint();
  }
  return {};
}

bool IncomingLinks::receive(Instant now) {
  if (loop_ == nullptr) {  // no loop reports which socket is readable
    for (Door& door : doors_) door.knocked = true;
  }
  accept_some(now);
  std::size_t left = kTurnBytes;
  bool more = false;
  const std::size_t count = links_.size();
  for (std::size_t i = 0; i < count; ++i) {
    IncomingLink& link = *links_[(next_ + i) % count];
    if (link.has_unsent()) link.write();
    if (link.is_over() || !link.may_read()) continue;
    if (left == 0) {
      next_ = (next_ + i) % count;
      more = true;
      break;
    }
    const std::size_t got = link.receive();
    left -= std::min(left, got);
    if (link.state() == IncomingLink::State::proved && !link.is_over()) admit(link);
    more = more || (got > 0 && link.may_read());
  }
  sweep(now);
  const bool knocked =
      std::any_of(doors_.begin(), doors_.end(), [](const Door& door) { return door.knocked; });
  return (more || (knocked && !accept_again_)) && loop_ != nullptr;
}

void IncomingLinks::accept_some(Instant now) {
  if (accept_again_ && *accept_again_ > now) return;
  accept_again_.reset();
  for (Door& door : doors_) {
    for (std::uint32_t i = 0; door.knocked && i < kAcceptsPerTurn; ++i) {
      auto accepted = door.listener->accept();
      switch (accepted.answer) {
        case StreamListener::Answer::taken: take_in(now, door, std::move(accepted.stream)); break;
        case StreamListener::Answer::nothing: door.knocked = false; break;
        case StreamListener::Answer::refused: break;
        case StreamListener::Answer::exhausted: accept_again_ = now + kAcceptPause; return;
      }
    }
  }
}

void IncomingLinks::take_in(Instant now, const Door& door, std::unique_ptr<Stream> stream) {
  if (!is_known_source(stream->peer())) {
    ++counters_.refused;
    return;
  }
  give_place();
  const Kind kind = door.listener->is_local() ? Kind::shm : Kind::tcp;
  auto channel = std::make_unique<Channel>(std::move(stream), kind, kHandshakeBytesMax);
  if (loop_ != nullptr && !channel->attach(*loop_)) return;
  ++counters_.accepted;
  links_.push_back(std::make_unique<IncomingLink>(std::move(channel), options_, regions_, counters_,
                                                  verbs_, now + options_.limits.patience));
}

bool IncomingLinks::is_known_source(const StreamPeer& peer) const {
  if (peer.local) return is_same_user(peer.uid);
  return std::any_of(options_.peers.begin(), options_.peers.end(),
                     [&](const Peer& each) { return each.at.ip == peer.at.ip; });
}

/// The oldest of too many connections without proof has to go.
void IncomingLinks::give_place() {
  std::size_t handshakes = 0;
  IncomingLink* oldest = nullptr;
  for (const auto& link : links_) {
    if (link->is_open() || link->is_over()) continue;
    ++handshakes;
    if (oldest == nullptr) oldest = link.get();
  }
  if (handshakes < kHandshakesMax) return;
  ++counters_.late;
  oldest->close("newer connections need its place");
}

/// The writer has the key. Its older connection ends before the new one writes anything, so that
/// its writes keep their order.
void IncomingLinks::admit(IncomingLink& link) {
  IncomingLink* older = link_of(link.writer().node);
  if (older != nullptr && older->writer().epoch > link.writer().epoch) {
    return link.refuse(Refusal::old_incarnation);
  }
  if (older != nullptr) {
    ++counters_.replaced;
    older->close("it connected again");
  }
  link.admit();
  link.write();
  new_.push_back(link.writer().node);
}

IncomingLink* IncomingLinks::link_of(NodeId node) const {
  for (const auto& link : links_) {
    if (link->is_open() && !link->is_over() && link->writer().node == node) return link.get();
  }
  return nullptr;
}

void IncomingLinks::sweep(Instant now) {
  bool any = false;
  for (const auto& link : links_) {
    if (!link->is_open() && !link->is_over() && link->deadline() <= now) {
      ++counters_.late;
      link->close("its handshake takes too long");
    }
    any = any || link->is_over();
  }
  if (!any) return;
  for (const auto& link : links_) {
    if (!link->is_over()) continue;
    if (link->is_open()) ++counters_.ended;
    if (link->has_bad_input()) {
      ++counters_.bad_input;
      offences_.note(link->offence());
    }
    arrived_ = link->take_arrivals() || arrived_;
  }
  std::erase_if(links_, [](const auto& link) { return link->is_over(); });
  next_ = 0;
}

void IncomingLinks::flush() {
  for (const auto& link : links_) {
    if (link->has_unsent()) link->write();
  }
}

std::optional<Instant> IncomingLinks::next_deadline() const {
  std::optional<Instant> next = accept_again_;
  for (const auto& link : links_) {
    if (!link->is_open() && (!next || link->deadline() < *next)) next = link->deadline();
  }
  return next;
}

void IncomingLinks::on_keys() {
  for (const auto& link : links_) {
    if (link->uses_old_key()) link->close("its key is not accepted any more");
  }
}

void IncomingLinks::expose(const Regions::Exposure& exposure) {
  for (const auto& link : links_) {
    if (!link->is_over() && serves(*link, exposure.region)) link->expose(exposure);
  }
}

// A connection that is over may have its rights still: it ends in the next receive().

void IncomingLinks::revoke(const Regions::Exposure& exposure) {
  for (const auto& link : links_) {
    if (serves(*link, exposure.region)) link->revoke(exposure);
  }
}

void IncomingLinks::withdraw(const Regions::Exposure& exposure) {
  for (const auto& link : links_) {
    if (serves(*link, exposure.region)) link->withdraw(exposure);
  }
}

/// The link tells the region's writer about regions.
bool IncomingLinks::serves(const IncomingLink& link, const port::Region& region) const {
  return link.is_open() && link.kind() != Kind::tcp && link.writer() == region.writer;
}

bool IncomingLinks::has_arrivals() const {
  return arrived_ || std::any_of(links_.begin(), links_.end(),
                                 [](const auto& link) { return link->has_arrivals(); });
}

bool IncomingLinks::take_arrivals() {
  bool any = std::exchange(arrived_, false);
  for (const auto& link : links_) any = link->take_arrivals() || any;
  return any;
}

void IncomingLinks::arm() {
  for (const auto& link : links_) link->arm();
}

void IncomingLinks::disarm() {
  for (const auto& link : links_) link->disarm();
}

Kind IncomingLinks::kind_of(NodeId node) const {
  const IncomingLink* link = link_of(node);
  return link == nullptr ? Kind::none : link->kind();
}

}  // namespace peal::io::fabric
