// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/shm_route.h"

#include <utility>

#include "io/fabric/atomic_copy.h"
#include "io/fabric/regions.h"

namespace peal::io::fabric {

std::size_t ShmRoute::Mapped::bytes() const {
  return is_refused() ? 0 : pages.view().size() - Regions::kHeaderBytes;
}

bool ShmRoute::Mapped::is_open() const {
  return shared_word(pages.span().data()).load(std::memory_order_seq_cst) == epoch.value;
}

ShmRoute::ShmRoute(const MemberId& owner, WriterBell bell, const Limits& limits, Counters& counters,
                   Offences& offences, WriteCounters& writes)
    : owner_(owner),
      bell_(std::move(bell)),
      limits_(limits),
      counters_(counters),
      offences_(offences),
      writes_(writes) {
  batch_.reserve(kBatchMax);
}

// ---- what the owner says ----

void ShmRoute::on_record(const Record& record, Channel& channel) {
  switch (record.kind) {
    case Record::Kind::expose: return map(record, channel);
    case Record::Kind::withdraw: {
      const Mapped* region = regions_[record.number].get();
      if (region != nullptr && region->epoch.value == record.epoch) unmap(record.number);
      return;
    }
    case Record::Kind::unknown: return question_.on_unknown(record.count);
    default: return channel.give_up("a record for another fabric", true);
  }
}

void ShmRoute::map(const Record& record, Channel& channel) {
  const Fd fd = channel.take_descriptor();
  if (!fd) return channel.give_up("a region without its descriptor", true);
  unmap(record.number);
  question_.on_known(record.number, record.epoch);
  std::unique_ptr<Mapped>& region = regions_[record.number];
  region = std::make_unique<Mapped>();
  region->epoch = {record.epoch};
  if (record.value > limits_.mapped_bytes_max - mapped_bytes_) {
    return refuse(Offence::Kind::memory, "its memory would be more than " +
                                             std::to_string(limits_.mapped_bytes_max) +
                                             " bytes with this region");
  }
  auto pages = map_pages_of_peer(fd, Regions::kHeaderBytes + record.value);
  if (!pages) {
    const bool is_bad = pages.error().code == Errc::invalid_option;
    return refuse(is_bad ? Offence::Kind::memory : Offence::Kind::unmapped, pages.error().message);
  }
  region->pages = std::move(*pages);
  mapped_bytes_ += region->bytes();
}

/// The region stays without memory, so that all writes to it are denied.
void ShmRoute::refuse(Offence::Kind kind, std::string why) {
  ++counters_.refused_memory;
  offences_.note({kind, owner_, {}, std::move(why)});
}

void ShmRoute::unmap(std::uint8_t number) {
  if (regions_[number] == nullptr) return;
  mapped_bytes_ -= regions_[number]->bytes();
  regions_[number].reset();
}

// ---- writes ----

bool ShmRoute::pump(StagedWrites& staged, Channel& channel, Ends& ends) {
  bool waits = false;
  bool wrote = false;
  while (!waits && staged.released() > 0) {
    std::size_t at = 0;
    while (batch_.size() < staged.released() && batch_.size() < kBatchMax) {
      const std::size_t index = batch_.size();
      if (staged[index].place.owner != owner_) break;
      const Step step = store_write(staged, index, at, channel);
      waits = step == Step::wait;
      if (waits) break;
      wrote = wrote || step == Step::stored;
      at += staged[index].bytes;
    }
    if (batch_.empty()) break;
    if (wrote) bell_.count();
    full_fence();
    end_batch(staged, ends);
  }
  if (wrote && bell_.is_asleep()) {
    owes_wake_ = true;
    wake(channel);
  }
  channel.write();
  return !waits;
}

void ShmRoute::on_turn(Instant now, Channel& channel) {
  now_ = now;
  if (!owes_wake_ || now < next_wake_) return;
  wake(channel);
  channel.write();
}

/// Wakes the owner up if it still sleeps, unless it is too early.
void ShmRoute::wake(Channel& channel) {
  if (now_ < next_wake_) return;
  owes_wake_ = false;
  if (!bell_.must_wake()) return;
  ++counters_.rings;
  next_wake_ = now_ + limits_.wake_gap;
  Record record;
  record.kind = Record::Kind::wake;
  channel.end_frame(encode_record(record, channel.begin_frame(kRecordBytes)));
}

/// Stores the bytes of one write, and adds it to the batch.
ShmRoute::Step ShmRoute::store_write(const StagedWrites& staged, std::size_t index, std::size_t at,
                                     Channel& channel) {
  const StagedWrite& write = staged[index];
  Mapped* region = regions_[write.place.number].get();
  if (region == nullptr || region->epoch != write.place.epoch) {
    if (question_.ask(staged, write, channel) == RegionQuestion::Answer::none) return Step::wait;
    region = nullptr;
  }
  const std::uint64_t offset = write.place.offset;
  const bool may_write = region != nullptr && offset <= region->bytes() &&
                         write.bytes <= region->bytes() - offset && region->is_open();
  if (!may_write) region = nullptr;
  batch_.push_back(region);
  if (region == nullptr) return Step::denied;
  copy_to_shared(region->pages.span().data() + Regions::kHeaderBytes + offset,
                 staged.bytes().subspan(at, write.bytes));
  return Step::stored;
}

/// Ends the writes of the batch, behind the fence.
void ShmRoute::end_batch(StagedWrites& staged, Ends& ends) {
  for (const Mapped* region : batch_) {
    const bool is_ok = region != nullptr && region->is_open();
    ends.add(staged.front().token, is_ok ? port::WriteEnd::ok : port::WriteEnd::denied, writes_);
    staged.pop();
  }
  batch_.clear();
}

}  // namespace peal::io::fabric
