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
      return channel_->give_up("its first record is not `ready`", true);
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
  const auto refused = judge_hello(*read.hello, channel_->kind(), options_, verbs_.is_usable());
  if (refused) return refuse(*refused);
  hello_ = *read.hello;
  if (hello_.fabric == Kind::verbs) channel_->serve_verbs();
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
  auto page = make_shared_pages(kBellBytes);
  if (!page) return channel_->give_up(page.error().message, false);
  bell_.emplace(std::move(*page));
  if (channel_->kind() == Kind::verbs) {
    auto grants = verbs_.device->make_grants(channel_->peer().at, bell_->memory());
    if (!grants) return give_up_verbs(grants.error());
    grants_ = std::move(*grants);
    send(Record{});
  } else {
    send(Record{}, bell_->fd());
  }
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
  const bool is_tcp = channel_->kind() == Kind::tcp;
  switch (record.kind) {
    case Record::Kind::write:
      if (!is_tcp) break;
      return apply(record);
    case Record::Kind::ask: {
      if (is_tcp) break;
      // If it is exposed, that was said before.
      if (regions_.is_exposed({writer(), record.number}, {record.epoch})) return;
      Record answer = record;
      answer.kind = Record::Kind::unknown;
      return send(answer);
    }
    case Record::Kind::wake:
      if (is_tcp) break;
      ++counters_.rung;
      return;
    case Record::Kind::join:
      if (grants_ == nullptr) break;
      return on_join(record);
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

// ---- regions ----

void IncomingLink::expose(const Regions::Exposure& exposure) {
  if (grants_ != nullptr) return offer(exposure);
  Record record;
  record.kind = Record::Kind::expose;
  record.number = exposure.region.number;
  record.epoch = exposure.epoch.value;
  record.value = exposure.bytes;
  send(record, exposure.fd);
  if (channel_->unsent() >= kUnsentMax) channel_->give_up("it does not read", false);
}

void IncomingLink::offer(const Regions::Exposure& exposure) {
  const auto offer = grants_->offer(exposure);
  if (!offer) return give_up_verbs(offer.error());
  std::array<std::byte, kVerbsOfferBytes> bytes{};
  encode_offer(*offer, bytes);
  Record record;
  record.kind = Record::Kind::offer;
  record.number = exposure.region.number;
  record.epoch = exposure.epoch.value;
  record.value = exposure.bytes;
  record.bytes = bytes;
  send(record);
  if (channel_->unsent() >= kUnsentMax) channel_->give_up("it does not read", false);
}

void IncomingLink::on_join(const Record& record) {
  const auto end = decode_end(record.bytes);
  if (!end) return channel_->give_up("an end of a queue pair that makes no sense", true);
  switch (grants_->join(record.number, {record.epoch}, *end)) {
    case VerbsGrants::Joined::yes: {
      Record joined;
      joined.kind = Record::Kind::joined;
      joined.number = record.number;
      joined.epoch = record.epoch;
      return send(joined);
    }
    case VerbsGrants::Joined::gone: return;  // and the writer was told so
    case VerbsGrants::Joined::unusable:
      return channel_->give_up("its end of a queue pair cannot be used", true);
  }
}

/// The device cannot do what writers need: later connections use the next fabric.
void IncomingLink::give_up_verbs(const std::string& problem) {
  verbs_.fail(problem);
  close(problem);
}

void IncomingLink::revoke(const Regions::Exposure& exposure) {
  if (grants_ != nullptr && !grants_->revoke(exposure.region.number)) say_withdrawn(exposure);
}

void IncomingLink::withdraw(const Regions::Exposure& exposure) {
  if (grants_ != nullptr) grants_->drop(exposure.region.number);
  say_withdrawn(exposure);
}

void IncomingLink::say_withdrawn(const Regions::Exposure& exposure) {
  Record record;
  record.kind = Record::Kind::withdraw;
  record.number = exposure.region.number;
  record.epoch = exposure.epoch.value;
  send(record);
  if (channel_->unsent() >= kUnsentMax) channel_->give_up("it does not read", false);
}

void IncomingLink::send(const Record& record, int fd) {
  const ByteSpan frame = channel_->begin_frame(kRecordBytes + record.bytes.size());
  channel_->end_frame(encode_record(record, frame), fd);
}

}  // namespace peal::io::fabric
