// SPDX-License-Identifier: Apache-2.0
// Data packets as they arrive.

#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using evs::State;
using wire::Drop;

}  // namespace

void RingEngine::on_data(Instant now, const MemberId& from, const BufferRef& packet, Effects& out) {
  wire::Data data;
  const Drop reason = wire::decode_data(packet.view(), data);
  if (reason != Drop::none) return drop(reason);
  const State state = membership_.state();
  if (data.view != membership_.view() || !contains(membership_.members(), data.origin)) {
    if (state == State::recovery && data.view == repair_.agreement.view) ++counts_.data_in_recovery;
    // A packet is foreign if its transmitter is no member. One that only names another view is not:
    // slower members may still retransmit packets of the old view after an installation.
    if (!contains(membership_.members(), from)) membership_.on_foreign(now, from, out);
    return drop(Drop::foreign);
  }
  ++counts_.data_received;
  switch (state) {
    case State::operational: {
      const bool fresh = store(data, packet);
      const bool from_predecessor = !alone() && from == membership_.place().predecessor();
      if (from_predecessor && !data.retransmission && data.hop > r_.last_hop &&
          (data.post || options_.priority == PriorityMethod::aggressive)) {
        prefer_ = Lane::token;
      }
      // A member downstream has had the token that this member sent: the token is alive.
      if (!data.retransmission && data.hop >= r_.sent_hop) membership_.tracked().lives(now);
      if (fresh) deliver_ready(out);
      return;
    }
    case State::gather: store(data, packet); return;  // store late packets, but do not deliver them
    case State::commit:
      // Frozen: the commit token already says what this member holds.
      if (PEAL_MUTANT(m5_accept_in_commit)) {
        store(data, packet);
        return;
      }
      return drop(Drop::wrong_state);
    case State::recovery:
      if (!in_union(data.seq) && !PEAL_MUTANT(m6_accept_outside_union))
        return drop(Drop::wrong_state);
      if (store(data, packet)) recovery_check();
      return;
  }
}

bool RingEngine::store(const wire::Data& data, const BufferRef& packet) {
  if (packets_.received(data.seq)) {
    if (PEAL_MUTANT(duplicate_not_dropped) && packets_.has(data.seq) && data.seq <= r_.delivered) {
      r_.delivered = data.seq - 1;
    }
    ++counts_.duplicates;
    drop(Drop::duplicate);
    return false;
  }
  if (!packets_.in_window(data.seq) || packet.size() > packet_bytes_max_) {
    drop(Drop::out_of_window);
    return false;
  }
  const auto header = static_cast<std::uint32_t>(wire::kDataHeaderBytes);
  packets_.put(data, packet.slice(header, packet.size() - header));
  return true;
}

}  // namespace peal::order::ring
