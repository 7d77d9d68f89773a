// SPDX-License-Identifier: Apache-2.0
#include "client_examine.h"

#include <algorithm>
#include <vector>

namespace peal::wire::test {
namespace {

constexpr std::uint64_t kLengthMax = 1U << 24;

ClientVerdict compare(ByteView bytes, const std::vector<std::byte>& again) {
  const bool same = std::equal(bytes.begin(), bytes.end(), again.begin(), again.end());
  return {Drop::none, same ? nullptr : "accepted, but not the one encoding"};
}

template <class Message>
ClientVerdict examine_as(ByteView bytes, ByteView body) {
  Message message;
  const Drop drop = decode(body, message);
  if (drop != Drop::none) return {drop, nullptr};
  std::vector<std::byte> again;
  append(again, message);
  return compare(bytes, again);
}

template <class Message>
ClientVerdict examine_as(ByteView bytes, ByteView body, RecordKind kind) {
  Message message;
  const Drop drop = decode(body, message);
  if (drop != Drop::none) return {drop, nullptr};
  std::vector<std::byte> again;
  append(again, kind, message);
  return compare(bytes, again);
}

ClientVerdict examine_framed(ByteView bytes, const Record& record) {
  const ByteView body = record.body;
  switch (record.kind) {
    case RecordKind::hello: return examine_as<Hello>(bytes, body);
    case RecordKind::join: return examine_as<JoinRequest>(bytes, body);
    case RecordKind::leave: return examine_as<LeaveRequest>(bytes, body);
    case RecordKind::send: return examine_as<SendRequest>(bytes, body);
    case RecordKind::ask: return examine_as<AskRequest>(bytes, body);
    case RecordKind::mapped:
    case RecordKind::goodbye: return {body.empty() ? Drop::none : Drop::trailing_bytes, nullptr};
    case RecordKind::seen:
    case RecordKind::ping:
    case RecordKind::acked:
    case RecordKind::pong: return examine_as<Acked>(bytes, body, record.kind);
    case RecordKind::message: return examine_as<MessageEvent>(bytes, body);
    case RecordKind::group_view: return examine_as<GroupViewEvent>(bytes, body);
    case RecordKind::transitional:
    case RecordKind::left: return examine_as<GroupEvent>(bytes, body, record.kind);
    case RecordKind::gap: return examine_as<GapEvent>(bytes, body);
    case RecordKind::shared: return examine_as<Shared>(bytes, body);
    case RecordKind::welcome: return examine_as<Welcome>(bytes, body);
    case RecordKind::refused: return examine_as<Refused>(bytes, body);
    case RecordKind::reply: return examine_as<Reply>(bytes, body);
    case RecordKind::warning: return examine_as<Warning>(bytes, body);
    case RecordKind::closing: return examine_as<Closing>(bytes, body);
  }
  return {Drop::unknown_kind, nullptr};
}

}  // namespace

ClientVerdict examine_record(ByteView bytes) {
  const Framed framed = next_record(bytes, kLengthMax);
  if (framed.state == Framed::State::incomplete) {
    const bool less = framed.bytes == 0 || framed.bytes > bytes.size();
    return {Drop::truncated, less ? nullptr : "incomplete, but all bytes are there"};
  }
  if (framed.state == Framed::State::bad_length) return {Drop::bad_length, nullptr};
  if (framed.bytes > bytes.size()) return {Drop::none, "complete, but bytes are missing"};
  if (framed.bytes < bytes.size()) return {Drop::trailing_bytes, nullptr};
  return examine_framed(bytes, framed.record);
}

ClientVerdict examine_stream(ByteView bytes) {
  for (;;) {
    const Framed framed = next_record(bytes, kLengthMax);
    if (framed.state == Framed::State::incomplete) return {Drop::truncated, nullptr};
    if (framed.state == Framed::State::bad_length) return {Drop::bad_length, nullptr};
    const ClientVerdict verdict = examine_record(bytes.first(framed.bytes));
    if (verdict.wrong != nullptr) return verdict;
    bytes = bytes.subspan(framed.bytes);
  }
}

}  // namespace peal::wire::test
