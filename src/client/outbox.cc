// SPDX-License-Identifier: Apache-2.0
#include "client/outbox.h"

#include <utility>

#include "base/assert.h"

namespace peal::client {

bool Outbox::fits(std::size_t payload_bytes) const {
  return unsettled_.empty() ||
         (unsettled_.size() < messages_max_ && unsettled_bytes_ + payload_bytes <= bytes_max_);
}

std::uint64_t Outbox::push(wire::SendRequest request, std::size_t bytes) {
  request.number = sent() + 1;
  Message message;
  message.record = spare_.take();
  message.record.reserve(bytes);
  message.payload_bytes = request.payload.size();
  wire::append(message.record, request);
  unsettled_bytes_ += message.payload_bytes;
  unsettled_.push_back(std::move(message));
  return sent();
}

void Outbox::settle(std::uint64_t number) {
  PEAL_ASSERT(number >= settled_ && number <= taken());
  out_ -= static_cast<std::size_t>(number - settled_);
  forget_settled(number);
}

void Outbox::forget_settled(std::uint64_t number) {
  PEAL_ASSERT(number <= sent());
  while (settled_ < number) {
    unsettled_bytes_ -= unsettled_.front().payload_bytes;
    spare_.give(std::move(unsettled_.front().record));
    unsettled_.pop_front();
    ++settled_;
  }
}

void Outbox::gather(std::vector<ByteView>& out, std::size_t chunks_max, bool messages) {
  forget_gathered();
  const auto add = [&](const std::vector<std::byte>& record, std::size_t from, bool is_message) {
    out.push_back(ByteView(record).subspan(from));
    gathered_.push_back(is_message);
    gathered_bytes_.push_back(record.size() - from);
  };
  std::size_t message = out_;
  if (partial_ > 0 && partial_is_message_) add(unsettled_[message++].record, partial_, true);
  for (const Control& control : control_) {
    const bool first = partial_ > 0 && !partial_is_message_ && gathered_.empty();
    if (gathered_.size() < chunks_max) add(control.record, first ? partial_ : 0, false);
  }
  if (!messages) return;
  for (; message < unsettled_.size() && gathered_.size() < chunks_max; ++message) {
    add(unsettled_[message].record, 0, true);
  }
}

void Outbox::written(std::size_t bytes, Requests& requests) {
  for (std::size_t i = 0; i < gathered_.size() && bytes > 0; ++i) {
    if (bytes < gathered_bytes_[i]) {
      partial_ += bytes;
      partial_is_message_ = gathered_[i];
      break;
    }
    bytes -= gathered_bytes_[i];
    partial_ = 0;
    if (gathered_[i]) {
      ++out_;
    } else {
      requests.note_written(control_.front().request);
      control_.pop_front();
    }
  }
  forget_gathered();
}

void Outbox::disconnected() {
  control_.clear();
  out_ = 0;
  partial_ = 0;
  forget_gathered();
}

void Outbox::resume(std::uint64_t settled, std::uint64_t received) {
  forget_settled(settled);
  out_ = static_cast<std::size_t>(received - settled_);
}

void Outbox::end() {
  control_.clear();
  forget_gathered();
}

}  // namespace peal::client
