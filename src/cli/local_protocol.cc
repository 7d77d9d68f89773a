// SPDX-License-Identifier: Apache-2.0
#include "cli/local_protocol.h"

#include <algorithm>
#include <bit>
#include <concepts>

#include "base/assert.h"
#include "cli/config.h"
#include "wire/reader.h"

namespace peal::cli {
namespace {

using wire::Drop;
using wire::Reader;
using Bytes = std::vector<std::byte>;

template <std::unsigned_integral T>
void put(Bytes& out, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
}

void put(Bytes& out, std::string_view text) {
  PEAL_ASSERT(text.size() <= 0xff);
  put(out, static_cast<std::uint8_t>(text.size()));
  const ByteView bytes = as_bytes_view(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Starts a record; end_record() fills in its length.
std::size_t begin_record(Bytes& out, RecordKind kind) {
  const std::size_t start = out.size();
  put(out, std::uint32_t{0});
  put(out, static_cast<std::uint8_t>(kind));
  return start;
}

void end_record(Bytes& out, std::size_t start) {
  const std::size_t length = out.size() - start - sizeof(std::uint32_t);
  PEAL_ASSERT(length <= kReplyBodyMax + 1);
  for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i) {
    out[start + i] = static_cast<std::byte>(length >> (8 * i) & 0xff);
  }
}

/// A truth value is 0 or 1, so that there is one encoding for each record.
bool take_truth(Reader& in) {
  const auto value = in.u<std::uint8_t>();
  in.require(value <= 1, Drop::bad_value);
  return value == 1;
}

Service take_service(Reader& in) {
  const auto value = in.u<std::uint8_t>();
  in.require(value <= static_cast<std::uint8_t>(Service::safe), Drop::bad_value);
  return static_cast<Service>(value);
}

std::string_view take_text(Reader& in, ByteView body) {
  const auto length = in.u<std::uint8_t>();
  if (!in.holds(length, 1)) return {};
  const ByteView text = body.subspan(body.size() - in.remaining(), length);
  in.skip(length);
  return as_text(text);
}

template <class T>
std::optional<T> verdict(const Reader& in, T value) {
  if (in.finish() != Drop::none) return std::nullopt;
  return value;
}

}  // namespace

Framed next_record(ByteView bytes, std::uint64_t body_max, std::uint64_t send_body_max) {
  Framed framed;
  if (bytes.size() < kRecordHeaderBytes) return framed;
  Reader in(bytes);
  const std::uint64_t length = in.u<std::uint32_t>();
  framed.record.kind = static_cast<RecordKind>(in.u<std::uint8_t>());
  const std::uint64_t maximum = framed.record.kind == RecordKind::send ? send_body_max : body_max;
  if (length == 0 || length - 1 > maximum) {
    framed.state = Framed::State::too_long;
    return framed;
  }
  framed.bytes = sizeof(std::uint32_t) + length;
  if (bytes.size() < framed.bytes) return framed;
  framed.state = Framed::State::complete;
  framed.record.body = bytes.subspan(kRecordHeaderBytes, length - 1);
  return framed;
}

void append_record(Bytes& out, RecordKind kind, ByteView body) {
  const std::size_t start = begin_record(out, kind);
  out.insert(out.end(), body.begin(), body.end());
  end_record(out, start);
}

void append_hello(Bytes& out) {
  const std::size_t start = begin_record(out, RecordKind::hello);
  put(out, kLocalVersion);
  end_record(out, start);
}

void append_send(Bytes& out, Service service, ByteView payload) {
  const std::size_t start = begin_record(out, RecordKind::send);
  put(out, static_cast<std::uint8_t>(service));
  out.insert(out.end(), payload.begin(), payload.end());
  end_record(out, start);
}

void append_ordered(Bytes& out, std::uint64_t count) {
  const std::size_t start = begin_record(out, RecordKind::ordered);
  put(out, count);
  end_record(out, start);
}

void append_welcome(Bytes& out, const Welcome& welcome) {
  const std::size_t start = begin_record(out, RecordKind::welcome);
  put(out, kLocalVersion);
  put(out, welcome.message_bytes_max);
  put(out, welcome.cluster);
  put(out, welcome.node);
  end_record(out, start);
}

void append_message(Bytes& out, const MessageRecord& message) {
  const std::size_t start = begin_record(out, RecordKind::message);
  put(out, message.sender);
  put(out, message.number);
  put(out, message.view);
  put(out, static_cast<std::uint8_t>(message.transitional ? 1 : 0));
  put(out, message.position);
  put(out, message.index);
  put(out, static_cast<std::uint8_t>(message.service));
  out.insert(out.end(), message.payload.begin(), message.payload.end());
  end_record(out, start);
}

void append_view(Bytes& out, const ViewRecord& view) {
  const std::size_t start = begin_record(out, RecordKind::view);
  put(out, static_cast<std::uint8_t>(view.transitional ? 1 : 0));
  put(out, static_cast<std::uint8_t>(!view.primary ? 0 : *view.primary ? 1 : 2));
  put(out, view.id);
  put(out, view.old);
  put(out, view.reason);
  put(out, view.digest.value);
  put(out, view.digest.messages);
  put(out, view.digest.bytes);
  PEAL_ASSERT(view.members.size() <= kNodesMax);
  put(out, static_cast<std::uint16_t>(view.members.size()));
  for (const std::string& member : view.members) put(out, member);
  end_record(out, start);
}

std::optional<std::uint32_t> parse_hello(ByteView body) {
  Reader in(body);
  return verdict(in, in.u<std::uint32_t>());
}

std::optional<SendRequest> parse_send(ByteView body) {
  Reader in(body);
  SendRequest request;
  request.service = take_service(in);
  if (in.failed() || request.service < Service::agreed) return std::nullopt;
  request.payload = body.subspan(1);
  return request;
}

std::optional<std::uint64_t> parse_ordered(ByteView body) {
  Reader in(body);
  return verdict(in, in.u<std::uint64_t>());
}

std::optional<Welcome> parse_welcome(ByteView body) {
  Reader in(body);
  Welcome welcome;
  in.require(in.u<std::uint32_t>() == kLocalVersion, Drop::bad_value);
  welcome.message_bytes_max = in.u<std::uint32_t>();
  welcome.cluster = take_text(in, body);
  welcome.node = take_text(in, body);
  return verdict(in, std::move(welcome));
}

std::optional<MessageRecord> parse_message(ByteView body) {
  Reader in(body);
  MessageRecord message;
  message.sender = take_text(in, body);
  message.number = in.u<std::uint64_t>();
  message.view = take_text(in, body);
  message.transitional = take_truth(in);
  message.position = in.u<std::uint64_t>();
  message.index = in.u<std::uint32_t>();
  message.service = take_service(in);
  if (in.failed()) return std::nullopt;
  message.payload = body.subspan(body.size() - in.remaining());
  return message;
}

std::optional<ViewRecord> parse_view(ByteView body) {
  Reader in(body);
  ViewRecord view;
  view.transitional = take_truth(in);
  const auto primary = in.u<std::uint8_t>();
  in.require(primary <= 2, Drop::bad_value);
  if (primary != 0) view.primary = primary == 1;
  view.id = take_text(in, body);
  view.old = take_text(in, body);
  view.reason = take_text(in, body);
  view.digest.value = in.u<std::uint64_t>();
  view.digest.messages = in.u<std::uint64_t>();
  view.digest.bytes = in.u<std::uint64_t>();
  const auto count = in.u<std::uint16_t>();
  if (count > kNodesMax || !in.holds(count, 1)) return std::nullopt;
  for (std::uint16_t i = 0; i < count; ++i) view.members.emplace_back(take_text(in, body));
  return verdict(in, std::move(view));
}

}  // namespace peal::cli
