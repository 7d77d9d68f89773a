// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/cells.h"

#include "base/assert.h"

namespace peal::order::ramcast {

CellTable::CellTable(const Parts& parts, Links& links) : parts_(parts), links_(links) {
  targets_.resize(parts.layout.nodes());
  if (!parts.serves()) return;
  tables_.resize(parts.layout.domains() + 1);
  const std::size_t cells = parts.layout.nodes() * parts.options.slots;
  for (unsigned domain = 1; domain <= parts.layout.domains(); ++domain) {
    tables_[domain].resize(cells * wire::kCellBytes);
    for (const NodeIndex server : parts.layout.servers(domain)) {
      if (server == parts.index) continue;
      targets_[server].dirty.resize(cells);
      targets_[server].listed.resize(parts.layout.nodes());
      targets_[server].rows.reserve(parts.layout.nodes());
    }
  }
}

void CellTable::put(const Record& record, const wire::Cell& cell, To to) {
  const auto sender = parts_.layout.index_of(record.id.sender.node);
  PEAL_ASSERT(sender);
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((record.head.to >> domain) & 1U) == 0) continue;
    if (to == To::others && domain == parts_.domain) continue;
    const std::size_t place = cell_of(record, domain, *sender);
    wire::Cell mine = cell;
    mine.index = wire::index_in(record.head, domain);
    mine.sender_epoch = record.id.sender.epoch;
    mine.number = record.id.number;
    wire::encode_cell(
        mine, ByteSpan(tables_[domain]).subspan(place * wire::kCellBytes, wire::kCellBytes));
    if (to == To::nobody) continue;
    for (const NodeIndex server : parts_.layout.servers(domain)) {
      if (server != parts_.index) mark(server, place, record.id.number);
    }
  }
}

void CellTable::repeat(NodeIndex server, const Record& record) {
  const unsigned domain = parts_.layout.role(server).domain;
  const auto sender = parts_.layout.index_of(record.id.sender.node);
  if (!sender || domain == 0 || ((record.head.to >> domain) & 1U) == 0) return;
  mark(server, cell_of(record, domain, *sender), record.id.number);
}

void CellTable::mark(NodeIndex server, std::size_t cell, std::uint64_t message) {
  Target& target = targets_[server];
  target.dirty[cell] = true;
  target.message = message;
  const auto row = static_cast<NodeIndex>(cell / parts_.options.slots);
  if (target.listed[row]) return;
  target.listed[row] = true;
  target.rows.push_back(row);
}

/// Everything that this server ever said, and that was not replaced, is written again.
void CellTable::on_open(NodeIndex server) {
  Target& target = targets_[server];
  target.under_way = 0;
  const unsigned domain = parts_.layout.role(server).domain;
  if (!parts_.serves() || domain == 0) return;
  const std::vector<std::byte>& table = tables_[domain];
  for (std::size_t cell = 0; cell < target.dirty.size(); ++cell) {
    const auto number = load<std::uint64_t>(ByteView(table).subspan(cell * wire::kCellBytes + 24));
    if (number != 0) mark(server, cell, number);
  }
}

void CellTable::on_done(NodeIndex server) {
  Target& target = targets_[server];
  if (target.under_way > 0) --target.under_way;
}

void CellTable::flush(Instant now) {
  for (NodeIndex server = 0; server < targets_.size(); ++server) {
    Target& target = targets_[server];
    if (target.rows.empty()) continue;
    if (!links_.open(server)) {
      const bool near = parts_.layout.role(server).domain == parts_.domain;
      links_.need(now, server, near ? 0 : target.message);
      continue;
    }
    if (target.under_way >= kUnderWay) continue;
    for (const NodeIndex row : target.rows) {
      write_row(server, target, row);
      target.listed[row] = false;
    }
    target.rows.clear();
  }
}

/// Writes the dirty cells of one sender. Neighbours share a write, and so do cells with one clean
/// cell in between.
void CellTable::write_row(NodeIndex server, Target& target, NodeIndex sender) {
  const std::size_t slots = parts_.options.slots;
  const std::size_t first = sender * slots;
  const ByteView table = tables_[parts_.layout.role(server).domain];
  for (std::size_t begin = first; begin < first + slots; ++begin) {
    if (!target.dirty[begin]) continue;
    std::size_t end = begin + 1;
    while (end < first + slots &&
           (target.dirty[end] || (end + 1 < first + slots && target.dirty[end + 1]))) {
      ++end;
    }
    for (std::size_t cell = begin; cell < end; ++cell) target.dirty[cell] = false;
    links_.write(server, Area::cells, begin * wire::kCellBytes,
                 table.subspan(begin * wire::kCellBytes, (end - begin) * wire::kCellBytes), 0);
    ++target.under_way;
    begin = end - 1;
  }
}

}  // namespace peal::order::ramcast
