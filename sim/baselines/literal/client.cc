// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/client.h"

#include <algorithm>
#include <optional>

namespace peal::sim::genuine::literal {

void Client::write(Instant now, const Sender::UnderWay& unit) {
  const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
    write_head(out, unit.head);
    out.bytes(unit.unit.view());
  });
  for (const DomainId domain : unit.head.to) {
    for (const NodeId node : layout_.nodes(domain)) {
      if (node == post_.self().node) continue;
      links_.write(now, node, Area::units,
                   places_.of(Area::units, post_.self().node, unit.head.index[domain]),
                   ByteView(scratch_).first(bytes));
    }
  }
}

/// As published, the slot is free once one domain has released the message; servers of others may
/// still write what they say of it.
bool Client::is_free(const Head& head) const {
  bool all = true, any = false;
  for (const DomainId domain : head.to) {
    const bool one = head.index[domain] <= released_[domain];
    all = all && one;
    any = any || one;
  }
  return options_.has(Published::x8) ? any : all;
}

void Client::read_reply(NodeId server, const Head& head, order::Effects& out) {
  std::array<std::byte, kCellBytes> cell;
  const std::uint64_t offset = places_.of(Area::replies, post_.self().node, head.number);
  if (!links_.load(Area::replies, server, offset, cell)) return;
  std::optional<wire::ByteReader> in = open_record(cell);
  if (!in) return;
  const Name name = read_name(*in);
  const auto key = in->u<Key>();
  if (name.sender == post_.self() && name.number == head.number)
    sender_.told(name.number, key, out);
}

void Client::read(order::Effects& out) {
  std::vector<Head> waiting;
  DomainSet asked;
  for (const Sender::UnderWay& each : sender_.under_way()) {
    if (each.key == 0 && !each.head.to.has(own_)) waiting.push_back(each.head);
  }
  for (const Head& head : waiting) {
    for (const DomainId domain : head.to) {
      for (const NodeId server : layout_.nodes(domain)) read_reply(server, head, out);
    }
  }
  for (const Head& head : sent_) {
    for (const DomainId domain : head.to) asked.add(domain);
  }
  for (const DomainId domain : asked) {
    for (const NodeId server : layout_.nodes(domain)) {
      std::array<std::byte, kCellBytes> cell;
      if (!links_.load(Area::replies, server, places_.release_cell(), cell)) continue;
      std::optional<wire::ByteReader> in = open_record(cell);
      if (!in) continue;
      const Name name = read_name(*in);
      if (name.sender != post_.self()) continue;
      released_[domain] = std::max(released_[domain], name.index);
    }
  }
  while (!sent_.empty() && is_free(sent_.front())) sent_.pop_front();
}

}  // namespace peal::sim::genuine::literal
