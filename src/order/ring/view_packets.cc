// SPDX-License-Identifier: Apache-2.0
#include "order/ring/view_packets.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ring {
namespace {

using wire::Drop;
using wire::FrameKind;

}  // namespace

std::uint64_t ViewPackets::room() const {
  const auto up_to = [this](Seq end) { return end > p_.token.seq ? end - p_.token.seq : 0; };
  const std::uint64_t store = up_to(stored_.discarded() + stored_.capacity());
  if (PEAL_MUTANT(max_gap_ignored)) return store;
  return std::min<std::uint64_t>(store, up_to(safe_line_ + p_.limits.max_gap));
}

std::uint32_t ViewPackets::order_units(std::uint32_t limit, Effects& out) {
  std::uint32_t sent = 0;
  Unit unit;
  while (sent < limit && p_.host.next_unit(unit_bytes_max(), unit)) {
    PEAL_ASSERT(unit.bytes.size() <= unit_bytes_max());
    ++p_.token.seq;
    wire::Data data;
    data.view = p_.membership.view();
    data.seq = p_.token.seq;
    data.hop = p_.token.hop;
    data.origin = p_.membership.self();
    data.service = is_safe(unit.service) ? Service::safe : Service::agreed;
    stored_.put(data, std::move(unit.bytes));
    out.originate(data.view, data.seq);
    ++sent;
    ++p_.counts.originated;
  }
  return sent;
}

void ViewPackets::send_own(Seq seq, bool post, Effects& out) {
  Packet& packet = stored_.at(seq);
  packet.data.post = post;
  BufferRef bytes = packet.unit;
  bytes.grow_front(static_cast<std::uint32_t>(wire::kDataHeaderBytes));
  wire::encode_data_in_place(p_.membership.frames().header(FrameKind::data), packet.data,
                             ByteSpan{bytes.data(), bytes.size()});
  ++p_.counts.sent;
  if (!p_.alone()) out.multicast(Lane::data, bytes);
}

bool ViewPackets::store(const wire::Data& data, const BufferRef& packet) {
  if (stored_.received(data.seq)) {
    if (PEAL_MUTANT(duplicate_not_dropped) && stored_.has(data.seq) && data.seq <= delivered_) {
      delivered_ = data.seq - 1;
    }
    ++p_.counts.duplicates;
    p_.drop(Drop::duplicate);
    return false;
  }
  if (!stored_.in_window(data.seq) || packet.size() > p_.limits.packet_bytes_max) {
    p_.drop(Drop::out_of_window);
    return false;
  }
  const auto header = static_cast<std::uint32_t>(wire::kDataHeaderBytes);
  stored_.put(data, packet.slice(header, packet.size() - header));
  return true;
}

void ViewPackets::settle(Seq aru_sent, Effects& out) {
  Seq line = std::min(aru_sent, aru_sent_before_);
  if (PEAL_MUTANT(m4_safe_from_one_rotation)) line = aru_sent;
  if (line < safe_line_) {
    ++p_.counts.safe_line_fell;
    line = safe_line_;
  }
  safe_line_ = line;
  aru_sent_before_ = aru_sent;
  deliver_ready(out);
  Seq discard = std::min(safe_line_, delivered_);
  if (PEAL_MUTANT(discard_too_early)) discard = delivered_;
  if (discard > stored_.discarded()) stored_.discard_to(discard);
}

void ViewPackets::deliver_ready(Effects& out) {
  while (delivered_ < stored_.contiguous() ||
         (PEAL_MUTANT(deliver_out_of_order) && delivered_ < stored_.high())) {
    const Seq next = delivered_ + 1;
    if (!stored_.has(next)) {
      delivered_ = next;  // only with the mutant deliver_out_of_order
      continue;
    }
    const Packet& packet = stored_.at(next);
    // A safe packet that is not stable blocks all later packets, even agreed packets, because all
    // packets have one order.
    if (is_safe(packet.data.service) && next > safe_line_ && !PEAL_MUTANT(deliver_safe_early))
      return;
    delivered_ = next;
    stored_.prefetch(next + 1);
    deliver(packet, false, out);
  }
}

void ViewPackets::deliver(const Packet& packet, bool transitional, Effects& out) {
  Delivery delivery;
  delivery.view = p_.membership.view();
  delivery.transitional = transitional;
  delivery.seq = packet.data.seq;
  delivery.origin = packet.data.origin;
  delivery.service = packet.data.service;
  delivery.unit = packet.unit;
  ++p_.counts.delivered;
  out.deliver(delivery);
}

void ViewPackets::begin_view() {
  stored_.clear();
  delivered_ = safe_line_ = aru_sent_before_ = first_;
}

void ViewPackets::forget_repaired() {
  for (Seq seq = delivered_ + 1; seq <= stored_.high(); ++seq) {
    if (stored_.has(seq) && stored_.at(seq).data.retransmission) stored_.forget(seq);
  }
}

void ViewPackets::add_to(Digest& digest) const {
  for (const Seq line :
       {delivered_, safe_line_, stored_.discarded(), stored_.contiguous(), stored_.high()}) {
    digest.add(line);
  }
}

void ViewPackets::check_invariants() const {
  PEAL_ASSERT(stored_.discarded() <= delivered_ || PEAL_MUTANT(discard_too_early));
  PEAL_ASSERT(delivered_ <= stored_.contiguous() || PEAL_MUTANT(deliver_out_of_order) ||
              PEAL_MUTANT(m8_recovered_forgotten));
  PEAL_ASSERT(stored_.contiguous() <= stored_.high());
  PEAL_ASSERT(stored_.discarded() <= safe_line_ || PEAL_MUTANT(discard_too_early));
}

}  // namespace peal::order::ring
