// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/links.h"

#include <algorithm>

#include "base/assert.h"
#include "order/ramcast/messages.h"

namespace peal::order::ramcast {
namespace {

constexpr unsigned kValueBits = 40;

std::uint64_t token_of(NodeIndex node, Area area, std::uint8_t generation, std::uint64_t value) {
  PEAL_ASSERT(value < (1ULL << kValueBits) && node < 256);
  const std::uint64_t head = (std::uint64_t{generation} << 16) |
                             (static_cast<std::uint64_t>(area) << 8) | std::uint64_t{node};
  return (head << kValueBits) | value;
}

constexpr Area kStaticAreas[] = {Area::messages, Area::cells, Area::control, Area::replies};

}  // namespace

std::size_t slot_stride(const Options& options) {
  return (wire::kSlotHeaderBytesMax + unit_bytes_max(options) + 63) / 64 * 64;
}

/// The largest base: all records, where each sender continues, and a few views.
std::size_t base_bytes_max(const Options& options, const Layout& layout) {
  const std::size_t record = wire::log_entry_bytes(layout.domains(), 0);
  const std::size_t view = wire::log_entry_bytes(0, wire::kDomainViewBytesMax);
  const std::size_t rows = layout.nodes() * Messages::kRowsOfANode;
  const std::size_t senders = layout.nodes() * Messages::kIncarnationsOfANode;
  const std::size_t bytes =
      rows * options.slots * record + senders * wire::log_entry_bytes(0, 0) + 8 * view;
  return (bytes + 63) / 64 * 64;
}

std::size_t bytes_of(Area area, const Options& options, const Layout& layout) {
  switch (area) {
    case Area::messages: return options.slots * slot_stride(options);
    case Area::cells: return layout.nodes() * options.slots * wire::kCellBytes;
    case Area::control: return wire::kControlBytes;
    case Area::replies: return wire::kReleaseBytes + options.slots * wire::kReplyBytes;
    case Area::log: return options.log_bytes + base_bytes_max(options, layout);
  }
  return 0;
}

void Links::start(Instant now) {
  for (NodeIndex node = 0; node < links_.size(); ++node) {
    if (is_near(node) && node != parts_.index) need(now, node, 0);
  }
}

void Links::need(Instant now, NodeIndex node, std::uint64_t message) {
  Link& link = links_[node];
  if (message != 0) link.message = message;
  if (link.needed || link.open) return;
  link.needed = true;
  link.next = now;
  link.gap = parts_.options.hello();
}

/// Exposes all regions that the peer may write to, except the log.
void Links::expose(Link& link, NodeIndex node) {
  const NodeRole& role = parts_.layout.role(node);
  for (const Area area : kStaticAreas) {
    const bool fits = area == Area::messages  ? parts_.serves()
                      : area == Area::cells   ? parts_.serves() && role.domain != 0
                      : area == Area::control ? is_near(node)
                                              : role.domain != 0;
    if (!fits) continue;
    const port::Region region{link.peer, static_cast<std::uint8_t>(area)};
    const auto exposed =
        parts_.memory.expose(region, kStaticEpoch, bytes_of(area, parts_.options, parts_.layout));
    if (!exposed) return;  // the peer is told nothing, and asks again
  }
  link.exposed = true;
}

Links::Change Links::on_hello(Instant now, const MemberId& from, NodeIndex node,
                              const wire::MemoryHello& hello, Effects& out) {
  Link& link = links_[node];
  if (from.epoch < link.peer.epoch) return Change::none;
  Change change = Change::none;
  if (from != link.peer) {
    if (link.exposed) {
      for (const Area area : kStaticAreas) {
        parts_.memory.drop({link.peer, static_cast<std::uint8_t>(area)});
      }
    }
    if (link.open) close(now, node);
    link.peer = from;
    bad_.on_renewed(node, from);
    link.exposed = false;
    change = Change::renewed;
  }
  if (hello.message != 0) link.message = hello.message;
  if (!link.exposed) expose(link, node);
  if (hello.heard == parts_.self && !link.open) {
    link.open = true;
    link.needed = false;
    if (change == Change::none) change = Change::opened;
  }
  if (!hello.answer && link.exposed) say_hello(node, hello.message, out);
  return change;
}

void Links::say_hello(NodeIndex node, std::uint64_t message, Effects& out) const {
  const Link& link = links_[node];
  wire::MemoryHello hello;
  if (link.exposed) hello.heard = link.peer;
  hello.message = message;
  hello.answer = link.open && link.exposed;
  parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_memory_hello(header, hello, bytes);
  });
}

void Links::refuse(const MemberId& from, wire::Drop reason, const ViewId& view, Effects& out) {
  const bool known = parts_.layout.index_of(from.node).has_value();
  incompatible_.report(from, known, static_cast<unsigned>(reason), view, out);
}

void Links::on_timer(Instant now, Effects& out) {
  for (NodeIndex node = 0; node < links_.size(); ++node) {
    Link& link = links_[node];
    if (!link.needed || link.next > now) continue;
    say_hello(node, link.message, out);
    link.next = now + link.gap;
    link.gap = std::min(link.gap * 2, parts_.options.suspect);
  }
}

std::optional<Instant> Links::deadline() const {
  std::optional<Instant> first;
  for (const Link& link : links_) {
    if (link.needed && (!first || link.next < *first)) first = link.next;
  }
  return first;
}

bool Links::load(Area area, NodeIndex from, std::uint64_t offset, ByteSpan to) const {
  const Link& link = links_[from];
  return link.exposed &&
         parts_.memory.load({link.peer, static_cast<std::uint8_t>(area)}, offset, to);
}

void Links::write(NodeIndex to, Area area, std::uint64_t offset, ByteView bytes,
                  std::uint64_t value, port::Epoch epoch) {
  const Link& link = links_[to];
  PEAL_ASSERT(link.open && to != parts_.index);
  ++parts_.counts.writes;
  parts_.memory.write({link.peer, static_cast<std::uint8_t>(area), epoch, offset}, bytes,
                      token_of(to, area, link.generation, value));
}

bool Links::next_done(Instant now, Done& out) {
  port::WriteDone done;
  while (parts_.memory.next_done(done)) {
    const std::uint64_t head = done.token >> kValueBits;
    out.node = static_cast<NodeIndex>(head & 0xff);
    out.area = static_cast<Area>((head >> 8) & 0xff);
    out.value = done.token & ((1ULL << kValueBits) - 1);
    out.end = done.end;
    if (static_cast<std::uint8_t>(head >> 16) != links_[out.node].generation) continue;
    if (done.end == port::WriteEnd::denied) ++parts_.counts.denied;
    if (done.end == port::WriteEnd::down) ++parts_.counts.down;
    const bool deposed = done.end == port::WriteEnd::denied && out.area == Area::log;
    if (done.end != port::WriteEnd::ok && !deposed) close(now, out.node);
    return true;
  }
  return false;
}

void Links::close(Instant now, NodeIndex node) {
  Link& link = links_[node];
  link.open = false;
  ++link.generation;
  link.needed = false;
  // What was under way is lost: it is written again once the link is open.
  if (is_near(node) || link.message != 0) need(now, node, link.message);
}

}  // namespace peal::order::ramcast
