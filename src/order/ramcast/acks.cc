// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/acks.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"

namespace peal::order::ramcast {

bool Acks::read() {
  bool changed = false;
  const std::optional<NodeIndex> leader =
      parts_.layout.index_of(parts_.standing.promised.coordinator.node);
  for (Record* record : messages_.pending()) {
    const NodeIndex sender = *parts_.layout.index_of(record->id.sender.node);
    const std::uint64_t offset = table_.offset_of(*record, parts_.domain, sender);
    if (record->key != 0) {
      // Only the leader's mark may still be of use.
      if (leader && *leader != parts_.index) {
        changed =
            read_cell(*record, *leader, parts_.layout.role(*leader).domain, offset) || changed;
      }
      continue;
    }
    for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
      if (((record->head.to >> domain) & 1U) == 0) continue;
      for (const NodeIndex server : parts_.layout.servers(domain)) {
        if (server == parts_.index) continue;
        changed = read_cell(*record, server, domain, offset) || changed;
      }
    }
  }
  return changed;
}

bool Acks::advance_touched() {
  bool changed = false;
  for (Record* record : messages_.take_touched()) changed = advance(*record) || changed;
  return changed;
}

bool Acks::read_cell(Record& record, NodeIndex server, unsigned domain, std::uint64_t offset) {
  // Few cells have changed since the last look: their checksums tell.
  std::array<std::byte, wire::kCellBytes> bytes;
  const ByteSpan front = ByteSpan(bytes).first(wire::kCellFrontBytes);
  if (!links_.load(Area::cells, server, offset, front)) return false;
  if (!wire::is_cell_of(front, record.index)) {
    // The cell is of another message of its slot, if its writer follows the rules.
    const std::uint64_t slots = parts_.options.slots, found = wire::peek_number(front);
    if (found != 0 && found + slots != record.index && found % slots != record.index % slots) {
      bad_.refuse(server, Area::cells, offset, front, wire::Drop::out_of_window);
    }
    return false;
  }
  Said& said = record.said[server];
  if (said.seen && said.checksum == wire::peek_cell(front)) return false;
  if (!links_.load(Area::cells, server, offset, bytes)) return false;
  const std::uint32_t checksum = wire::peek_cell(bytes);
  wire::Cell cell;
  wire::Drop drop = wire::decode_cell(bytes, record.index, record.id, cell);
  if (drop == wire::Drop::none && !is_plausible(domain, cell)) drop = wire::Drop::bad_value;
  if (drop == wire::Drop::bad_value) {
    said.seen = true;  // it is not decoded again
    said.checksum = checksum;
    // Else its sender has told that server another message.
    const bool same = wire::peek_cell_message(bytes).number == record.id.number;
    if (same) bad_.refuse(server, Area::cells, offset, bytes, drop);
  }
  if (drop == wire::Drop::bad_checksum) bad_.doubt(server, Area::cells, offset, bytes, drop);
  if (drop != wire::Drop::none) return false;
  bad_.note_life(server);
  // A server of this domain that is ahead of this one is heard once this one is in its round.
  const bool ahead = domain == parts_.domain && cell.round > parts_.standing.synchronized;
  if (ahead && !PEAL_MUTANT(rc_later_rounds_count)) return false;
  said.seen = true;
  said.checksum = checksum;
  return take(record, server, domain, cell);
}

bool Acks::is_plausible(unsigned domain, const wire::Cell& cell) const {
  const bool stamp_fits = cell.stamp == 0 || domain_of_key(cell.stamp) == domain;
  return stamp_fits && parts_.clock.believes(cell.stamp) && parts_.clock.believes(cell.key);
}

bool Acks::take(Record& record, NodeIndex server, unsigned domain, const wire::Cell& cell) {
  bool changed = false;
  Stamp& other = record.others[domain];
  if (domain != parts_.domain && cell.stamp != 0 && other.round < cell.round) {
    // A domain that has lost its order begins a new one, which does not know what was acknowledged
    // in the former one. With a stamp of each, a message might get two keys.
    const bool same_order = other.key == 0 || order_of(other.round) == order_of(cell.round);
    if (same_order || PEAL_MUTANT(rc_orders_mixed)) {
      other = {cell.round, cell.stamp};
      changed = true;
    } else {
      record.replaced = static_cast<wire::DomainBits>(record.replaced | (1U << domain));
    }
  }
  Said& said = record.said[server];
  const bool near = domain == parts_.domain;
  const bool current = !near || cell.round == parts_.standing.synchronized;
  if (cell.acknowledged && (current || PEAL_MUTANT(rc_later_rounds_count))) {
    said.acknowledged = true;
    said.digest = cell.digest;
    said.key = cell.key;
    said.round = std::max(said.round, cell.round);
    changed = true;
    const bool of_leader = domain == parts_.domain && cell.mark_entry != 0 &&
                           cell.round == parts_.standing.synchronized &&
                           links_.peer(server) == cell.round.coordinator;
    if (of_leader) outlet_.note_mark(cell.mark_entry, cell.mark_clock);
  }
  // Only a server of this domain says in which round of this domain the key was found, at the
  // latest.
  if (cell.committed && near && cell.stamp != 0) {
    commit(record, cell.key);
    changed = true;
  }
  if (changed) messages_.touch(record);
  return changed;
}

bool Acks::advance(Record& record) {
  const bool acknowledged = acknowledge(record);
  return find_key(record) || acknowledged;
}

bool Acks::acknowledge(Record& record) {
  const Standing& standing = parts_.standing;
  if (!record.has_body || record.own.key == 0 || !standing.in_step()) return false;
  // Else a later leader could drop an earlier message of this sender, which nobody has, and order
  // it behind this one.
  if (!messages_.has_units_up_to(record)) return false;
  if (record.own.round != standing.synchronized) return false;
  if (parts_.options.lazy && record.inlined && record.single()) return false;
  Digest digest;
  Seq key = record.own.key;
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((record.head.to >> domain) & 1U) == 0) continue;
    const Stamp& stamp = domain == parts_.domain ? record.own : record.others[domain];
    if (stamp.key == 0) return false;
    digest.add(domain);
    digest.add(stamp.round.count);
    digest.add(stamp.round.coordinator.node.value);
    digest.add(stamp.round.coordinator.epoch);
    digest.add(stamp.key);
    key = std::max(key, stamp.key);
  }
  if (record.acknowledged == key && record.digest == digest.value()) return false;
  // The clock is raised before anybody hears of the acknowledgement: a later leader's clock is
  // above the key of each message that is acknowledged by a quorum.
  if (!PEAL_MUTANT(rc_clock_not_raised)) parts_.clock.raise(clock_of(key));
  record.acknowledged = key;
  record.digest = digest.value();
  Said& own = record.said[parts_.index];
  own = {record.digest, key, true, record.own.round, 0, true};
  ++parts_.counts.acknowledged;
  table_.put(record, cell_of(record), CellTable::To::all);
  return true;
}

/// Some set of timestamps is acknowledged by a quorum of each domain of the message.
bool Acks::find_key(Record& record) {
  if (record.key != 0) return false;
  for (const NodeIndex candidate : parts_.layout.servers(parts_.domain)) {
    const Said& said = record.said[candidate];
    if (!said.acknowledged) continue;
    bool all = true;
    for (unsigned domain = 1; all && domain <= parts_.layout.domains(); ++domain) {
      if (((record.head.to >> domain) & 1U) == 0) continue;
      const std::vector<NodeIndex>& servers = parts_.layout.servers(domain);
      const auto count = std::count_if(servers.begin(), servers.end(), [&](NodeIndex server) {
        const Said& other = record.said[server];
        const bool same = other.digest == said.digest && other.key == said.key;
        return other.acknowledged && (same || PEAL_MUTANT(rc_digests_ignored));
      });
      all = static_cast<unsigned>(count) >= parts_.layout.quorum(domain);
    }
    if (!all) continue;
    record.found = true;
    commit(record, said.key);
    return true;
  }
  return false;
}

wire::Round Acks::found_in(const Record& record, unsigned domain) const {
  if (!record.found)
    return PEAL_MUTANT(rc_found_in_known_round) ? record.others[domain].round : wire::Round{};
  wire::Round latest = record.others[domain].round;
  if (PEAL_MUTANT(rc_found_in_known_round)) return latest;
  for (const NodeIndex server : parts_.layout.servers(domain)) {
    if (record.said[server].acknowledged) latest = std::max(latest, record.said[server].round);
  }
  return latest;
}

void Acks::commit(Record& record, Seq key) {
  if (record.key != 0) return;
  if (key <= outlet_.delivered()) {
    // Only a process that breaks the protocol says so.
    ++parts_.counts.refused;
    return parts_.drop(wire::Drop::bad_value);
  }
  record.key = key;
  parts_.clock.raise(clock_of(key));
  outlet_.on_key(record);
}

void Acks::propose(const Record& record) {
  if (!record.single()) table_.put(record, cell_of(record), CellTable::To::others);
}

void Acks::repeat(NodeIndex server, const Record& record) {
  const wire::Cell cell = cell_of(record);
  if (cell.stamp == 0 && cell.key == 0) return;
  table_.put(record, cell, CellTable::To::nobody);
  table_.repeat(server, record);
}

void Acks::begin_round() {
  for (Record* record : messages_.pending()) {
    messages_.touch(*record);
    record->acknowledged = 0;
    record->digest = 0;
    // What servers of this domain said in earlier rounds does not count in this one.
    for (const NodeIndex server : parts_.layout.servers(parts_.domain)) record->said[server] = {};
  }
}

wire::Cell Acks::cell_of(const Record& record) const {
  const Standing& standing = parts_.standing;
  wire::Cell cell;
  if (record.own.key != 0 && record.own.round == standing.synchronized) {
    cell.round = record.own.round;
    cell.stamp = record.own.key;
    cell.acknowledged = record.acknowledged != 0;
  }
  if (cell.acknowledged) {
    cell.digest = record.digest;
    cell.key = record.acknowledged;
    if (standing.leads()) {
      cell.mark_entry = standing.entry;
      cell.mark_clock = parts_.clock.value();
      if (PEAL_MUTANT(rc_mark_without_clock)) cell.mark_clock = kClockMax;
    }
  }
  if (record.key != 0) {
    cell.committed = true;
    // One key per cell: an acknowledgement of other timestamps than the committed ones is of no
    // use.
    if (cell.acknowledged && cell.key != record.key) {
      cell.acknowledged = false;
      cell.digest = cell.mark_entry = cell.mark_clock = 0;
    }
    cell.key = record.key;
  }
  return cell;
}

}  // namespace peal::order::ramcast
