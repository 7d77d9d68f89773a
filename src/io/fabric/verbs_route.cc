// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_route.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "io/fabric/atomic_copy.h"

namespace peal::io::fabric {
namespace {

std::string failure_text(ibv_wc_status status) {
  if (status == IBV_WC_RETRY_EXC_ERR) return "RDMA: its device does not answer";
  return "RDMA: a write failed with status " + std::to_string(status);
}

}  // namespace

Result<std::unique_ptr<VerbsRoute>, std::string> VerbsRoute::make(const VerbsDevice& device,
                                                                  const MemberId& owner,
                                                                  const Endpoint& peer,
                                                                  Counters& counters,
                                                                  WriteCounters& writes) {
  auto domain = device.make_domain();
  if (!domain) return unexpected(domain.error());
  // Twice as many: completions of queue pairs that are gone may still be there.
  auto completions = device.make_completions(2 * kOperationsMax);
  if (!completions) return unexpected(completions.error());
  auto pages = make_shared_pages(kLookBytes + kBufferBytes);
  if (!pages) return unexpected(pages.error().message);
  auto memory = device.register_memory(domain->get(), pages->pages.span(), IBV_ACCESS_LOCAL_WRITE);
  if (!memory) return unexpected(memory.error());
  return std::unique_ptr<VerbsRoute>(new VerbsRoute(device, owner, peer, counters, writes,
                                                    std::move(*domain), std::move(*completions),
                                                    std::move(*pages), std::move(*memory)));
}

VerbsRoute::VerbsRoute(const VerbsDevice& device, const MemberId& owner, const Endpoint& peer,
                       Counters& counters, WriteCounters& writes, VerbsOwned<ibv_pd> domain,
                       VerbsOwned<ibv_cq> completions, SharedPages pages, VerbsOwned<ibv_mr> memory)
    : device_(device),
      owner_(owner),
      peer_(peer),
      counters_(counters),
      writes_(writes),
      pages_(std::move(pages)),
      domain_(std::move(domain)),
      completions_(std::move(completions)),
      memory_(std::move(memory)),
      buffer_(pages_.pages.span().subspan(kLookBytes)) {
  written_.reserve(remotes_.size());
}

// ---- what the owner says ----

void VerbsRoute::on_record(const Record& record, Channel& channel) {
  Remote* const known = remotes_[record.number].get();
  const bool is_known = known != nullptr && known->epoch.value == record.epoch;
  switch (record.kind) {
    case Record::Kind::offer: return on_offer(record, channel);
    case Record::Kind::joined:
      if (is_known) known->is_ready = true;
      return;
    case Record::Kind::withdraw:
      if (is_known) forget(record.number, channel);
      return;
    case Record::Kind::unknown: return question_.on_unknown(record.count);
    default: return channel.give_up("a record for another fabric", true);
  }
}

void VerbsRoute::on_offer(const Record& record, Channel& channel) {
  const auto offer = decode_offer(record.bytes);
  if (!offer) return channel.give_up("an offer that makes no sense", true);
  forget(record.number, channel);
  auto pair = QueuePair::make(
      device_, domain_.get(), completions_.get(),
      {.sends = kOperationsMax, .inline_bytes = kInlineBytes, .takes_writes = false});
  if (!pair) return channel.give_up(pair.error(), false);
  if (!pair->connect(offer->end, peer_)) {
    return channel.give_up("RDMA: this machine's device cannot connect to its device", false);
  }
  question_.on_known(record.number, record.epoch);
  std::array<std::byte, kVerbsEndBytes> end{};
  encode_end(pair->end(), end);
  Record join;
  join.kind = Record::Kind::join;
  join.number = record.number;
  join.epoch = record.epoch;
  join.bytes = end;
  channel.end_frame(encode_record(join, channel.begin_frame(kRecordBytes + end.size())));
  remotes_[record.number] = std::make_unique<Remote>(
      Remote{{record.epoch}, record.value, *offer, record.number, ++serials_, std::move(*pair)});
}

/// The owner has taken the region back. Nobody reads what arrives from now on.
void VerbsRoute::forget(std::uint8_t number, Channel& channel) {
  if (remotes_[number] == nullptr) return;
  collect(channel);
  const std::uint32_t serial = remotes_[number]->serial;
  remotes_[number].reset();
  flights_.finish_pair(serial, port::WriteEnd::denied);
}

// ---- completions ----

bool VerbsRoute::has_news() {
  if (news_count_ == 0 && !flights_.is_idle()) {
    const int got = ::ibv_poll_cq(completions_.get(), static_cast<int>(news_.size()), news_.data());
    if (got < 0) problem_ = "RDMA: the device lost completions";
    news_count_ = static_cast<std::size_t>(std::max(got, 0));
  }
  return news_count_ > 0 || !problem_.empty();
}

void VerbsRoute::arm() {
  if (flights_.is_idle()) return;
  if (::ibv_req_notify_cq(completions_.get(), 0) != 0) problem_ = "RDMA: no notice of completions";
}

void VerbsRoute::collect(Channel& channel) {
  // As many as can be under way: what the device completes meanwhile is for the next turn.
  for (std::size_t left = kOperationsMax; left > 0 && has_news() && news_count_ > 0;) {
    left -= std::min(left, news_count_);
    const std::size_t count = std::exchange(news_count_, 0);
    for (std::size_t i = 0; i < count; ++i) on_completion(news_[i], channel);
  }
  flights_.sweep([this](std::size_t bytes) { buffer_.release(bytes); });
}

void VerbsRoute::on_completion(const ibv_wc& completion, Channel& channel) {
  VerbsFlights::Operation* const operation = flights_.find(completion.wr_id);
  if (operation == nullptr) return;  // of a queue pair that is gone
  Remote* const to = remotes_[operation->number].get();
  PEAL_ASSERT(to != nullptr && to->serial == operation->pair);
  const bool is_refused =
      completion.status == IBV_WC_REM_ACCESS_ERR || completion.status == IBV_WC_REM_INV_REQ_ERR;
  if (is_refused) to->is_closed = true;
  if (completion.status == IBV_WC_SUCCESS) {
    const Task task = operation->task;
    flights_.finish(*operation, port::WriteEnd::ok);
    has_written_ = has_written_ || task == Task::data;
    if (task == Task::look) on_look(*to, channel);
  } else if (to->is_closed) {
    flights_.finish(*operation, port::WriteEnd::denied);
  } else if (problem_.empty()) {
    problem_ = failure_text(completion.status);
  }
}

void VerbsRoute::on_look(Remote& to, Channel& channel) {
  const bool is_asleep = shared_word(look_word(to).data()).load(std::memory_order_acquire) != 0;
  if (is_asleep) {
    ++counters_.rings;
    Record wake;
    wake.kind = Record::Kind::wake;
    channel.end_frame(encode_record(wake, channel.begin_frame(kRecordBytes)));
  }
  to.looks = false;
  if (std::exchange(to.look_again, false)) look(to);
}

void VerbsRoute::finish(Ends& ends) { flights_.end_writes(ends, writes_, true); }

// ---- writes ----

bool VerbsRoute::pump(StagedWrites& staged, Channel& channel, Ends& ends) {
  collect(channel);
  Step step = Step::left;
  while (problem_.empty() && staged.released() > 0 && staged.front().place.owner == owner_) {
    step = start_write(staged, channel);
    if (step == Step::wait || step == Step::full) break;
  }
  tell_owner();
  flights_.end_writes(ends, writes_, false);
  if (!problem_.empty()) channel.give_up(problem_, false);
  channel.write();
  return step != Step::wait;
}

/// Lets the first staged write leave, or its next part.
VerbsRoute::Step VerbsRoute::start_write(StagedWrites& staged, Channel& channel) {
  const StagedWrite& write = staged.front();
  Remote* to = remotes_[write.place.number].get();
  if (to != nullptr && to->epoch != write.place.epoch) to = nullptr;
  if (part_done_ == 0) {
    if (to == nullptr && question_.ask(staged, write, channel) == RegionQuestion::Answer::none) {
      return Step::wait;
    }
    if (to != nullptr && !to->is_ready) return Step::wait;
  }
  const bool may_write = to != nullptr && !to->is_closed && write.place.offset <= to->bytes &&
                         write.bytes <= to->bytes - write.place.offset;
  const std::size_t part = std::min(write.bytes - part_done_, kPartBytesMax);
  if (may_write && (!has_credit() || buffer_.space() < part)) return Step::full;
  if (part_done_ == 0) write_ = flights_.begin(write.token);
  if (may_write) {
    post_part(*to, write, staged.bytes().subspan(part_done_, part));
    part_done_ += part;
    if (part_done_ < write.bytes) return Step::left;
  } else {
    flights_.deny_last();
  }
  flights_.complete_last();
  part_done_ = 0;
  staged.pop();
  return Step::left;
}

void VerbsRoute::post_part(Remote& to, const StagedWrite& write, ByteView bytes) {
  const SendBuffer::Piece piece = buffer_.take(bytes.size());
  std::memcpy(piece.memory.data(), bytes.data(), bytes.size());
  if (to.has_rung) written_.push_back(write.place.number);
  to.has_rung = false;
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_WRITE;
  if (bytes.size() <= kInlineBytes) work.send_flags = IBV_SEND_INLINE;
  work.wr.rdma.remote_addr = to.offer.address + write.place.offset + part_done_;
  work.wr.rdma.rkey = to.offer.key;
  post(to, {Task::data, write.place.number, to.serial, write_, piece.cost}, work, piece.memory);
}

/// Tells the owner that something was written, behind the writes.
void VerbsRoute::tell_owner() {
  for (const std::uint8_t number : written_) {
    Remote* const to = remotes_[number].get();
    if (to == nullptr || std::exchange(to->has_rung, true)) continue;
    std::array<std::byte, sizeof(std::uint64_t)> count{};
    store(count, ++count_);
    ibv_send_wr work{};
    work.opcode = IBV_WR_RDMA_WRITE;
    work.send_flags = IBV_SEND_INLINE;
    work.wr.rdma.remote_addr = to->offer.bell_address + bell::kArrivals;
    work.wr.rdma.rkey = to->offer.bell_key;
    post(*to, {Task::bell, number, to->serial}, work, count);
    look(*to);
  }
  written_.clear();
}

void VerbsRoute::look(Remote& to) {
  if (std::exchange(to.looks, true)) {
    to.look_again = true;
    return;
  }
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_READ;
  work.wr.rdma.remote_addr = to.offer.bell_address + bell::kAsleep;
  work.wr.rdma.rkey = to.offer.bell_key;
  post(to, {Task::look, to.number, to.serial}, work, look_word(to));
}

/// `memory` is what the device reads or fills.
void VerbsRoute::post(Remote& to, const VerbsFlights::Operation& operation, ibv_send_wr& work,
                      ByteSpan memory) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory.data());
  piece.length = static_cast<std::uint32_t>(memory.size());
  piece.lkey = memory_->lkey;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.send_flags |= IBV_SEND_SIGNALED;
  work.wr_id = flights_.start(operation);
  if (!to.pair.post(work) && problem_.empty()) problem_ = "RDMA: the device takes no more work";
}

}  // namespace peal::io::fabric
