// SPDX-License-Identifier: Apache-2.0
#include "order/toto/node_store.h"

#include "base/assert.h"

namespace peal::order::toto {

void NodeStore::begin(std::size_t members, std::uint32_t capacity, Seq first) {
  PEAL_ASSERT(capacity != 0 && (capacity & (capacity - 1)) == 0);
  capacity_ = capacity;
  slots_.clear();  // drops the references to packets
  slots_.resize(members * capacity);
  discarded_.assign(members, first);
}

void NodeStore::put(const wire::Node& node, const BufferRef& packet) {
  PEAL_ASSERT(in_window({node.origin, node.seq}));
  Slot& place = slot({node.origin, node.seq});
  place.packet = packet;
  place.kind = node.kind;
  place.header_bytes = static_cast<std::uint16_t>(wire::node_header_bytes(node.advances.size()));
}

BufferRef NodeStore::unit(NodeRef node) const {
  const Slot& place = slot(node);
  if (place.kind == wire::NodeKind::control) return {};
  return place.packet.slice(place.header_bytes, place.packet.size() - place.header_bytes);
}

void NodeStore::discard(Index origin, Seq last) {
  Seq& discarded = discarded_[origin];
  while (discarded < last) {
    ++discarded;
    slots_[place_of({origin, discarded})] = {};
  }
}

}  // namespace peal::order::toto
