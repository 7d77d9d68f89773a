// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/catch_up.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum size of the answer to a request: the answer is sent as one burst, which the buffers on
/// the path must hold.
constexpr std::uint32_t kAskedBytesMax = 96U << 10;

/// After this many requests without success, this node requests answers on the control lane.
constexpr std::uint32_t kAsksOneLane = 3;

/// True if a live node has consumed this instance, and the link to that node works.
bool reaches(const Peer& peer, Instance instance) { return is_past(peer, instance) && peer.works; }

/// True if reaches() is true and, according to the node's last report, its history has the
/// instance.
bool gives(const Peer& peer, Instance instance) {
  return reaches(peer, instance) && peer.state.oldest <= instance;
}

}  // namespace

Instance asked_max(const Options& options) {
  return std::clamp<Instance>(kAskedBytesMax / options.packet_bytes_max, 1, wire::kRepeatMax);
}

CatchUp::CatchUp(const Parts& parts, const Election& election, const Learner& learner,
                 const Incarnations& incarnations)
    : p_(parts),
      election_(election),
      learner_(learner),
      incarnations_(incarnations),
      asked_max_(paxos::asked_max(p_.config.options)),
      patience_(p_.config.options.gap, p_.config.options.resend, p_.config.options.suspect) {}

bool CatchUp::lacks(Instance instance) const {
  const Slot* slot = p_.store.find(instance);
  if (slot != nullptr && slot->decided) return false;
  if (p_.state.known() && instance >= p_.state.next() && instance <= learner_.highest())
    return true;
  if (!incarnations_.votes() || slot == nullptr || p_.acceptor->vote_next() == 0) return false;
  return instance >= p_.acceptor->vote_next() && slot->heard_round != p_.acceptor->round();
}

std::optional<Instance> CatchUp::first_missing() const {
  if (p_.state.known() && lacks(p_.state.next())) return p_.state.next();
  if (incarnations_.votes() && lacks(p_.acceptor->vote_next())) return p_.acceptor->vote_next();
  return std::nullopt;
}

// The coordinator certainly has the value, but is busy. So requests for a value go to another node
// and to the coordinator in turn. If no other node is known to have the value, all requests go to
// the coordinator. If many nodes lack the same value, each of them begins with a different node, to
// spread the load.
const Peer* CatchUp::who_has(Instance instance) const {
  const Peer* leader = election_.coordinator();
  if (leader != nullptr && leader->self) leader = nullptr;
  std::vector<const Peer*> able;
  std::size_t own = 0;
  const auto look_for = [&](bool (*has)(const Peer&, Instance)) {
    for (const Peer& peer : p_.peers.all()) {
      if (peer.self) own = able.size();
      if (&peer != leader && has(peer, instance)) able.push_back(&peer);
    }
  };
  look_for(gives);
  // If no history has the instance, nodes that excluded this node from a view may have retained the
  // value.
  if (able.empty() && (leader == nullptr || !gives(*leader, instance))) {
    look_for(reaches);
    if (able.empty()) look_for(is_past);
  }
  if (able.empty() || (leader != nullptr && asks_ % 2 == 1)) return leader;
  return able[(own + asks_ / 2) % able.size()];
}

std::optional<Instant> CatchUp::next_at() const {
  if (!is_missing_) return std::nullopt;
  return ask_again_at();
}

// Packets overtake each other, and more so if links and disks are slow. The delays of values that
// arrived without a request show how long to wait. Each request without success doubles that time.
Instant CatchUp::ask_again_at() const {
  if (!on_its_way_) return asked_at_ + patience_.wait(asks_);
  const Options& options = p_.config.options;
  const Duration way = std::min(options.gap * p_.routes.hops(), options.resend);
  return asked_at_ + std::max(patience_.wait(0), way);
}

void CatchUp::work(Instant now, Effects& out) {
  const std::optional<Instance> first = first_missing();
  if (is_missing_ && asks_ == 0 && first != missed_) patience_.took(now, now - missed_at_);
  if (!first) {
    is_missing_ = false;
    asks_ = 0;
    return;
  }
  if (waits_longer(now, *first)) return;
  asked_at_ = now;
  on_its_way_ = false;
  const Peer* peer = who_has(*first);
  ++asks_;
  if (peer != nullptr) ask(*peer, *first, out);
}

bool CatchUp::waits_longer(Instant now, Instance first) {
  // Values that were requested together with the first missing one may still be in transit.
  const bool asked_for = is_missing_ && asks_ > 0 && first >= missed_ && first <= asked_upto_;
  if (!asked_for && (!is_missing_ || first != missed_)) return !begin(now, first);
  if (on_its_way_ && p_.store.find(first) != nullptr) {
    on_its_way_ = false;  // a later value has arrived
    asked_at_ = now;
    return true;
  }
  return now < ask_again_at();
}

/// Another value than before is missing. True: request it at once.
bool CatchUp::begin(Instant now, Instance first) {
  // After requested values have arrived, the next missing values are requested at once in two
  // cases: they have been missing for as long as the requested ones, or this node is far behind.
  const bool as_late = is_missing_ && asks_ > 0 && first <= missed_upto_;
  const bool far =
      asks_ > 0 && first == asked_upto_ + 1 && learner_.highest() >= first + asked_max_;
  is_missing_ = true;
  missed_ = first;
  if (!as_late) {
    missed_upto_ = std::max(learner_.highest(), p_.store.end() - 1);
    missed_at_ = now;
  }
  asks_ = 0;
  asked_at_ = now;
  // If values take several hops, this node may learn of a decision long before the value arrives.
  on_its_way_ = p_.routes.hops() > 1 && p_.store.find(first) == nullptr;
  return as_late || far;
}

// Requests the values that have been missing for as long as the first one, within asked_max_
// instances. Sends one packet for each run of consecutive instances, at most kRunsAtOnce packets.
void CatchUp::ask(const Peer& peer, Instance first, Effects& out) {
  asked_ = true;
  const bool again = asks_ > kAsksOneLane || peer.reception.lacks_data();
  constexpr int kRunsAtOnce = 8;
  const Instance end = std::min(std::max(missed_upto_, first), first + asked_max_ - 1) + 1;
  Instance from = first;
  for (int run = 0; run < kRunsAtOnce && from < end; ++run) {
    Instance upto = from + 1;
    while (upto < end && lacks(upto)) ++upto;
    const auto count = static_cast<std::uint16_t>(upto - from);
    ++requests_;
    p_.outbox.send(peer.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_repeat(header, {from, count, again}, bytes);
    });
    asked_upto_ = upto - 1;
    for (from = upto; from < end && !lacks(from);) ++from;
  }
}

void CatchUp::note_twice(Instant now, Instance instance) {
  const bool asked_for = asks_ > 0 && instance >= missed_ && instance <= asked_upto_;
  if (asked_for) patience_.took(now, now - missed_at_);
}

void CatchUp::check_invariants() const {
  PEAL_ASSERT(is_missing_ || asks_ == 0);
  PEAL_ASSERT(!is_missing_ || missed_ != 0);
}

}  // namespace peal::order::paxos
