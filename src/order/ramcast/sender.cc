// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/sender.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {

Sender::Sender(const Parts& parts, Links& links, Inbox& inbox, const DomainState& state)
    : parts_(parts), links_(links), inbox_(inbox), state_(state), bad_(links.bad()) {
  written_.resize(parts.layout.nodes());
  scratch_.resize(slot_stride(parts.options));
  next_index_.fill(1);
}

// ---- from the host to the servers ----

/// The domains of the next unit.
wire::DomainBits Sender::destinations() const {
  const DomainSet domains = parts_.host.next_domains();
  return domains.empty() ? parts_.layout.all() : domains.bits();
}

bool Sender::pull(Instant now) {
  bool any = false;
  lacks_space_ = false;
  // A server sends once it is in a view: then it delivers what it sends.
  if (parts_.serves() && !state_.is_member()) return false;
  while (own_.size() < parts_.options.slots && parts_.host.backlog_units() > 0) {
    const wire::DomainBits to = destinations();
    // A receiver in two domains sees the keys only: all messages that wait for theirs have one set
    // of destinations.
    const bool other = placed_ < last() && own(last()).head.to != to;
    if (other && !PEAL_MUTANT(rc_sets_mixed)) break;
    const bool mine = parts_.serves() && ((to >> parts_.domain) & 1U) != 0;
    lacks_space_ = mine && !inbox_.has_space(next_index_[parts_.domain]);
    if (lacks_space_) break;
    Unit unit;
    if (!parts_.host.next_unit(unit_bytes_max(parts_.options), unit)) break;
    Own& next = own_.push_back();
    next.unit = unit;
    next.head.number = last();
    next.head.to = to;
    next.head.service = unit.service;
    next.head.after = after_;
    for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
      if (((to >> domain) & 1U) != 0) next.head.indexes.push_back(next_index_[domain]++);
    }
    ++parts_.counts.units_sent;
    if (mine) inbox_.put_own(now, next.head, next.unit.bytes);
    any = true;
  }
  return any;
}

void Sender::flush(Instant now) {
  if (own_.empty()) return;
  for (NodeIndex server = 0; server < written_.size(); ++server) {
    const unsigned domain = parts_.layout.role(server).domain;
    if (domain == 0 || server == parts_.index) continue;
    std::uint64_t& written = written_[server];
    written = std::max(written, first_ - 1);
    while (written < last()) {
      const Own& next = own(written + 1);
      if (((next.head.to >> domain) & 1U) != 0) {
        if (!links_.open(server)) {
          const bool near = parts_.serves() && domain == parts_.domain;
          links_.need(now, server, near ? 0 : next.head.number);
          break;
        }
        write(written + 1, server);
      }
      ++written;
    }
  }
}

void Sender::write(std::uint64_t number, NodeIndex server) {
  const unsigned domain = parts_.layout.role(server).domain;
  const Own& message = own(number);
  const wire::Slot slot{message.head, first_};
  const std::size_t bytes = wire::encode_slot(slot, domain, message.unit.bytes.view(), scratch_);
  PEAL_ASSERT(bytes > 0);
  const std::uint64_t index = wire::index_in(message.head, domain);
  links_.write(server, Area::messages, index % parts_.options.slots * slot_stride(parts_.options),
               ByteView(scratch_).first(bytes), 0);
}

// ---- messages of which nothing is heard ----

std::uint64_t Sender::stuck() const {
  if (const std::uint64_t number = waiting()) return number;
  return is_full() ? first_ : 0;
}

/// The domains that have not told what this node waits for. A member of a domain finds out itself
/// what happens there.
wire::DomainBits Sender::silent_domains(std::uint64_t number) const {
  const Own& message = own_[number - first_];
  wire::DomainBits silent = 0;
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((message.head.to >> domain) & 1U) == 0) continue;
    if (domain == parts_.domain && state_.is_member()) continue;
    const bool told = message.key != 0 && wire::index_in(message.head, domain) <= released_[domain];
    if (!told) silent = static_cast<wire::DomainBits>(silent | (1U << domain));
  }
  return silent;
}

void Sender::on_timer(Instant now, Effects& out) {
  const std::uint64_t number = stuck();
  if (number != stuck_) {
    stuck_ = number;
    ask_gap_ = parts_.options.repair;
    ask_at_ = now + ask_gap_;
  }
  if (number == 0 || now < ask_at_) return;
  ask_gap_ = std::min(ask_gap_ * 2, parts_.options.repair * kSlowestRepair);
  ask_at_ = now + ask_gap_;
  const wire::DomainBits silent = silent_domains(number);
  for (NodeIndex server = 0; server < parts_.layout.nodes(); ++server) {
    const unsigned domain = parts_.layout.role(server).domain;
    if (server == parts_.index || domain == 0 || ((silent >> domain) & 1U) == 0) continue;
    ++parts_.counts.queries;
    parts_.send(server, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_about_message(header, wire::RamcastKind::query,
                                        {{parts_.self, number}, 0, {}}, bytes);
    });
  }
}

std::optional<Instant> Sender::deadline() const {
  return stuck_ == 0 ? std::nullopt : std::optional(ask_at_);
}

bool Sender::on_pull(NodeIndex server, const wire::MessageId& message, Effects& out) {
  if (message.sender != parts_.self || message.number < first_ || message.number > last()) {
    return false;
  }
  const Own& asked = own(message.number);
  const unsigned domain = parts_.layout.role(server).domain;
  if (domain == 0 || ((asked.head.to >> domain) & 1U) == 0) return true;
  ++parts_.counts.relays;
  send_relay(parts_, server, {parts_.self, asked.head}, asked.unit.bytes.view(), out);
  return true;
}

void Sender::on_open(NodeIndex server) { written_[server] = first_ - 1; }

// ---- from the servers ----

bool Sender::read(Effects& out) {
  if (own_.empty()) return false;
  bool changed = std::exchange(learned_, false);
  wire::DomainBits asked = 0;
  for (std::size_t i = 0; i < own_.size(); ++i) {
    asked = static_cast<wire::DomainBits>(asked | own_[i].head.to);
  }
  for (NodeIndex server = 0; server < parts_.layout.nodes(); ++server) {
    const unsigned domain = parts_.layout.role(server).domain;
    if (domain == 0 || server == parts_.index || ((asked >> domain) & 1U) == 0) continue;
    changed = read_server(server) || changed;
  }
  if (changed) {
    place(out);
    release();
  }
  return changed;
}

bool Sender::read_server(NodeIndex server) {
  const unsigned domain = parts_.layout.role(server).domain;
  std::array<std::byte, wire::kReleaseBytes> bytes;
  if (!links_.load(Area::replies, server, 0, bytes)) return false;
  bool changed = false;
  wire::SenderRelease told;
  wire::Drop drop = wire::decode_release(bytes, told);
  if (drop == wire::Drop::none && told.index >= next_index_[domain]) drop = wire::Drop::bad_value;
  if (drop != wire::Drop::none) {
    bad_.refuse(server, Area::replies, 0, bytes, drop);
  } else if (told.index > released_[domain]) {
    released_[domain] = told.index;
    changed = true;
  }
  const std::uint64_t slots = parts_.options.slots;
  for (std::uint64_t number = placed_ + 1; number <= last(); ++number) {
    Own& message = own(number);
    if (message.key != 0 || ((message.head.to >> domain) & 1U) == 0) continue;
    std::array<std::byte, wire::kReplyBytes> cell;
    const std::uint64_t offset = wire::kReleaseBytes + number % slots * wire::kReplyBytes;
    wire::SenderReply reply;
    if (!links_.load(Area::replies, server, offset, cell)) continue;
    if (const std::uint64_t found = wire::peek_reply(cell); found != number) {
      // An earlier message of the slot, if the server follows the rules.
      const bool other = found > last() || found % slots != number % slots;
      if (found != 0 && other) {
        bad_.refuse(server, Area::replies, offset, cell, wire::Drop::out_of_window);
      }
      continue;
    }
    drop = wire::decode_reply(cell, number, reply);
    if (drop == wire::Drop::none && !is_plausible(message, reply.key)) {
      drop = wire::Drop::bad_value;
    }
    if (drop != wire::Drop::none) {
      bad_.refuse(server, Area::replies, offset, cell, drop);
      continue;
    }
    bad_.note_life(server);
    if (comes_here(message, reply.key)) continue;
    message.key = reply.key;
    changed = true;
  }
  return changed;
}

/// The key may be that of the message: it is the timestamp of one of its domains.
bool Sender::is_plausible(const Own& message, Seq key) const {
  const bool known = ((message.head.to >> domain_of_key(key)) & 1U) != 0;
  return known && parts_.clock.believes(key) && key > message.head.after;
}

bool Sender::comes_here(const Own& message, Seq key) const {
  if (!parts_.serves() || ((message.head.to >> parts_.domain) & 1U) == 0) return false;
  if (key > state_.delivered() && !PEAL_MUTANT(rc_told_too_early)) return true;
  return state_.is_member() && key > state_.member_since();
}

void Sender::on_released(unsigned domain, std::uint64_t index) {
  released_[domain] = std::max(released_[domain], index);
  release();
}

void Sender::on_delivery(std::uint64_t number, Seq key, Effects& out) {
  if (number < first_ || number > last() || own(number).key != 0) return;
  own(number).key = key;
  own(number).delivered_here = state_.is_member();
  place(out);
  release();
}

void Sender::note_past(std::uint64_t number, Seq key) {
  if (number < first_ || number > last() || own(number).key != 0) return;
  own(number).key = key;
  learned_ = true;
}

/// Tells the host the places of its units, in their order.
void Sender::place(Effects& out) {
  while (placed_ < last() && own(placed_ + 1).key != 0) {
    const Own& next = own(++placed_);
    note_key(next.key);
    out.originate(next.delivered_here ? state_.view().id : ViewId{}, next.key);
  }
}

std::string Sender::describe() const {
  if (own_.empty()) return {};
  std::string text = " sends " + std::to_string(first_) + " to " + std::to_string(last()) +
                     " placed " + std::to_string(placed_) + " released";
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    text += " " + std::to_string(released_[domain]) + "/" + std::to_string(next_index_[domain] - 1);
  }
  return text;
}

/// Forgets messages that all their domains have released.
void Sender::release() {
  while (!own_.empty() && first_ <= placed_) {
    const wire::MessageHead& head = own_.front().head;
    for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
      if (((head.to >> domain) & 1U) == 0) continue;
      if (wire::index_in(head, domain) > released_[domain]) return;
    }
    own_.pop_front();
    ++first_;
  }
}

}  // namespace peal::order::ramcast
