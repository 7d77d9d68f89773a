// SPDX-License-Identifier: Apache-2.0
#include "wire/client.h"

#include "base/assert.h"
#include "base/bytes.h"

namespace peal::wire {
namespace {

constexpr std::array<std::string_view, kClientCodes> kCodeNames{
    "ok",          "bad_record",   "bad_version",    "bad_name",  "bad_secret", "not_permitted",
    "name_in_use", "session_lost", "member_already", "no_member", "too_large",  "too_many",
    "over_quota",  "slow",         "silent",         "replaced",  "goodbye",    "evicted",
    "shutdown",    "dropped",
};
static_assert(!kCodeNames.back().empty(), "every code has a name");

}  // namespace

std::string_view client_code_name(ClientCode code) {
  const auto index = static_cast<std::size_t>(code);
  PEAL_ASSERT(index < kCodeNames.size());
  return kCodeNames[index];
}

Framed next_record(ByteView bytes, std::uint64_t length_max) {
  Framed framed;
  if (bytes.size() < sizeof(std::uint32_t)) return framed;
  const auto length = load<std::uint32_t>(bytes);
  if (length < 1 || length > length_max) {
    framed.state = Framed::State::bad_length;
    return framed;
  }
  framed.bytes = sizeof(std::uint32_t) + std::size_t{length};
  if (bytes.size() < framed.bytes) return framed;
  framed.state = Framed::State::complete;
  framed.record.kind = static_cast<RecordKind>(bytes[sizeof(std::uint32_t)]);
  framed.record.body = bytes.subspan(kRecordHeaderBytes, framed.bytes - kRecordHeaderBytes);
  return framed;
}

}  // namespace peal::wire
