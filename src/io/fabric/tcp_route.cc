// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/tcp_route.h"

#include <algorithm>

namespace peal::io::fabric {

void TcpRoute::on_record(const Record& record, Channel& channel) {
  if (record.kind != Record::Kind::answer)
    return channel.give_up("a record for another fabric", true);
  std::uint64_t answered = record.count;
  for (std::size_t i = 0; i < answers_.size(); ++i) answered += answers_[i].count;
  if (answered > outstanding_.size()) return channel.give_up("more answers than writes", true);
  answers_.push_back({record.end, record.count});
}

bool TcpRoute::pump(StagedWrites& staged, Channel& channel, Ends& ends) {
  answer(ends);
  while (staged.released() > 0 && staged.front().place.owner == owner_ &&
         channel.unsent() < kUnsentMax && outstanding_.size() < kOutstandingMax) {
    fill_frame(staged, channel);
  }
  channel.write();
  return true;
}

void TcpRoute::answer(Ends& ends) {
  for (; !answers_.empty(); answers_.pop_front()) {
    for (std::uint32_t i = answers_.front().count; i > 0; --i) {
      ends.add(outstanding_.front(), answers_.front().end, counters_);
      outstanding_.pop_front();
    }
  }
}

/// Packs writes into one frame. A write that does not fit is sent in parts.
void TcpRoute::fill_frame(StagedWrites& staged, Channel& channel) {
  // Small turns must not touch the memory of a large frame.
  const std::size_t space = std::min(
      kFrameBytesMax, staged.size() + (kRecordBytes + StagedWrites::kCost) * staged.count());
  const ByteSpan frame = channel.begin_frame(std::max(space, 2 * kRecordBytes));
  std::size_t used = 0;
  while (staged.released() > 0 && staged.front().place.owner == owner_ &&
         outstanding_.size() < kOutstandingMax && frame.size() - used > kRecordBytes) {
    const StagedWrite& write = staged.front();
    Record record;
    record.kind = Record::Kind::write;
    record.number = write.place.number;
    record.epoch = write.place.epoch.value;
    record.value = write.place.offset + part_done_;
    const std::size_t left = write.bytes - part_done_;
    const std::size_t part = std::min(left, frame.size() - used - kRecordBytes);
    record.last = part == left;
    record.bytes = staged.bytes().subspan(part_done_, part);
    used += encode_record(record, frame.subspan(used));
    part_done_ += part;
    if (!record.last) break;
    outstanding_.push_back(write.token);
    part_done_ = 0;
    staged.pop();
  }
  channel.end_frame(used);
}

void TcpRoute::finish(Ends& ends) {
  answer(ends);
  for (; !outstanding_.empty(); outstanding_.pop_front()) {
    ends.add(outstanding_.front(), port::WriteEnd::down, counters_);
  }
}

}  // namespace peal::io::fabric
