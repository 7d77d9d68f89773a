// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/incoming_link.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace peal::io::fabric {

std::size_t IncomingLink::receive() {
  const std::size_t got = channel_->read();
  while (state_ != State::proved) {
    const auto frame = channel_->next();
    if (!frame) break;
    on_frame(*frame);
  }
  if (unanswered_ > 0) answer();
  channel_->write();
  return got;
}

void IncomingLink::on_frame(ByteView frame) {
  if (state_ == State::begun) return on_hello(frame);
  RecordReader reader(frame);
  if (state_ == State::asked) {
    const auto record = reader.next();
    if (!record || record->kind != Record::Kind::ready || reader.next() || reader.failed()) {
      return channel_->give_up("no ready", true);
    }
    state_ = State::proved;
    return;
  }
  while (const auto record = reader.next()) on_record(*record);
  if (reader.failed()) channel_->give_up("a record that makes no sense", true);
}

// ---- the handshake ----

void IncomingLink::on_hello(ByteView frame) {
  const HelloOrRefusal read = decode_hello(frame);
  if (!read.hello) return refuse(read.why);
  const auto refused = judge_hello(*read.hello, channel_->kind(), options_);
  if (refused) return refuse(*refused);
  hello_ = *read.hello;
  const Welcome welcome{options_.self, fresh_bytes()};
  std::array<std::byte, kWelcomeBytes> bytes{};
  encode_welcome(welcome, bytes);
  std::copy(bytes.begin(), bytes.end(), channel_->begin_frame(kWelcomeBytes).begin());
  channel_->end_frame(kWelcomeBytes);
  if (hello_.sealed) {
    channel_->use(secrets_of(options_, hello_.key, frame, bytes), Channel::Side::callee);
  }
  channel_->limit_frames(kSmallFrameBytesMax);
  state_ = State::asked;
}

void IncomingLink::refuse(Refusal why) {
  // Behind the welcome, frames are sealed, and the writer would not understand this.
  if (state_ == State::begun) {
    encode_refused(why, channel_->begin_frame(kRefusedBytes));
    channel_->end_frame(kRefusedBytes);
    channel_->write();
  }
  ++counters_.refused;
  channel_->give_up("refused", false);
}

void IncomingLink::admit() {
  PEAL_ASSERT(state_ == State::proved);
  state_ = State::open;
  if (channel_->kind() == Kind::tcp) {
    channel_->limit_frames(kFrameBytesMax);
    return send(Record{});
  }
  auto page = make_shared_pages(kBellBytes, Pages::normal);
  if (!page) return channel_->give_up(page.error().message, false);
  bell_.emplace(std::move(*page));
  send(Record{}, bell_->fd());
  std::vector<Regions::Exposure> exposures;
  regions_.list(writer(), exposures);
  for (const Regions::Exposure& exposure : exposures) expose(exposure);
}

bool IncomingLink::uses_old_key() const {
  if (state_ == State::begun) return false;
  if (!hello_.sealed) return options_.keys.has_value();
  return !options_.keys || options_.keys->find({hello_.key}) == nullptr;
}

// ---- what an admitted writer says ----

void IncomingLink::on_record(const Record& record) {
  const bool is_shm = channel_->kind() == Kind::shm;
  switch (record.kind) {
    case Record::Kind::write:
      if (is_shm) break;
      return apply(record);
    case Record::Kind::ask: {
      if (!is_shm) break;
      // If it is exposed, that was said before.
      if (regions_.is_exposed({writer(), record.number}, {record.epoch})) return;
      Record answer = record;
      answer.kind = Record::Kind::unknown;
      return send(answer);
    }
    case Record::Kind::wake:
      if (!is_shm) break;
      ++counters_.rung;
      return;
    default: break;
  }
  channel_->give_up("a record that only owners send", true);
}

void IncomingLink::apply(const Record& record) {
  const bool is_good =
      regions_.apply({writer(), record.number}, {record.epoch}, record.value, record.bytes);
  arrived_ = arrived_ || is_good;
  part_denied_ = part_denied_ || !is_good;
  if (!record.last) return;
  ++counters_.arrived;
  const bool is_denied = std::exchange(part_denied_, false);
  if (is_denied) ++counters_.turned_down;
  const auto end = is_denied ? port::WriteEnd::denied : port::WriteEnd::ok;
  if (unanswered_ > 0 && end != end_) answer();
  end_ = end;
  ++unanswered_;
}

void IncomingLink::answer() {
  Record record;
  record.kind = Record::Kind::answer;
  record.end = end_;
  record.count = std::exchange(unanswered_, 0);
  send(record);
}

void IncomingLink::expose(const Regions::Exposure& exposure) {
  Record record;
  record.kind = Record::Kind::expose;
  record.number = exposure.region.number;
  record.epoch = exposure.epoch.value;
  record.value = exposure.bytes;
  send(record, exposure.fd);
  if (channel_->unsent() >= kUnsentMax) channel_->give_up("it does not read", false);
}

void IncomingLink::withdraw(const Regions::Exposure& exposure) {
  Record record;
  record.kind = Record::Kind::withdraw;
  record.number = exposure.region.number;
  record.epoch = exposure.epoch.value;
  send(record);
  if (channel_->unsent() >= kUnsentMax) channel_->give_up("it does not read", false);
}

void IncomingLink::send(const Record& record, int fd) {
  channel_->end_frame(encode_record(record, channel_->begin_frame(kRecordBytes)), fd);
}

}  // namespace peal::io::fabric
