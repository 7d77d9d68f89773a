// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/admission.h"

namespace peal::order::paxos {

using wire::Drop;

Drop Admission::read(const BufferRef& packet, ViewId view, wire::Header& header, Effects& out) {
  const Drop reason = wire::decode_header(packet.view(), header, p_.config.checksum);
  if (reason == Drop::bad_version) report_incompatible({}, reason, view, out);
  // A packet of another engine normally names other settings too (header.cluster). Such a packet
  // passes here: admit() drops it and reports its sender.
  const bool foreign = reason == Drop::none && !wire::is_paxos_kind(header.kind);
  if (foreign && header.cluster == p_.config.cluster) return Drop::unknown_kind;
  return reason;
}

bool Admission::admit(Instant now, const wire::Header& header, ViewId view, Effects& out) {
  const Drop reason = judge(now, header, view, out);
  count(reason);
  return reason == Drop::none;
}

Drop Admission::judge(Instant now, const wire::Header& header, ViewId view, Effects& out) {
  if (header.cluster != p_.config.cluster) {
    const Drop reason = wire::drop_of_cluster(header.cluster, p_.config.cluster);
    report_incompatible(header, reason, view, out);
    return reason;
  }
  Peer* peer = p_.peers.find(header.sender.node);
  if (peer == nullptr) return Drop::bad_sender;
  if (peer->self) return Drop::own;
  return p_.peers.note(now, *peer, header.sender) ? Drop::none : Drop::stale;
}

void Admission::count(Drop reason) {
  if (reason != Drop::none) ++drops_[static_cast<std::size_t>(reason)];
}

void Admission::report_incompatible(const wire::Header& header, Drop reason, ViewId view,
                                    Effects& out) {
  incompatible_.report(header.sender, p_.peers.find(header.sender.node) != nullptr,
                       static_cast<unsigned>(reason), view, out);
}

void Admission::append_counters(std::vector<Counter>& counters) const {
  for (std::size_t i = 1; i < drops_.size(); ++i) {
    counters.push_back({wire::drop_name(static_cast<Drop>(i)), drops_[i]});
  }
}

}  // namespace peal::order::paxos
