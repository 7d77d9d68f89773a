// SPDX-License-Identifier: Apache-2.0
#include "wire/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "client_examine.h"
#include "client_samples.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

std::string hex(ByteView bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

template <class Message>
Drop decode_changed(const std::string& sample, const std::function<void(Message&)>& change) {
  for (const ClientSample& each : client_samples()) {
    if (each.name != sample) continue;
    Message message;
    if (decode(ByteView(each.bytes).subspan(kRecordHeaderBytes), message) != Drop::none) break;
    change(message);
    Bytes bytes;
    append(bytes, message);
    Message again;
    return decode(ByteView(bytes).subspan(kRecordHeaderBytes), again);
  }
  ADD_FAILURE() << "no such sample: " << sample;
  return Drop::none;
}

TEST(ClientRecords, ComeBackAsTheyWere) {
  for (const ClientSample& each : client_samples()) {
    const ClientVerdict verdict = examine_record(each.bytes);
    EXPECT_EQ(verdict.drop, Drop::none) << each.name << ": " << drop_name(verdict.drop);
    EXPECT_EQ(verdict.wrong, nullptr) << each.name << ": " << verdict.wrong;
  }
}

TEST(ClientRecords, HaveTheBytesThatTheirPageSays) {
  std::ifstream file("tests/data/client/records.txt");
  std::map<std::string, std::string> golden;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.rfind(": ");
    if (line.front() != '#') golden[line.substr(0, colon)] = line.substr(colon + 2);
  }
  const auto samples = client_samples();
  EXPECT_EQ(golden.size(), samples.size());
  for (const ClientSample& each : samples)
    EXPECT_EQ(golden[each.name], hex(each.bytes)) << each.name;
}

TEST(ClientRecords, SamplesHaveEveryKind) {
  std::set<std::byte> kinds;
  for (const ClientSample& each : client_samples()) kinds.insert(each.bytes[4]);
  EXPECT_EQ(kinds.size(), 22U);
}

TEST(ClientRecords, AreReadWithoutACopy) {
  SendRequest sent;
  sent.number = 1;
  sent.targets.push_back("orders");
  sent.payload = as_bytes_view("payload");
  Bytes bytes;
  append(bytes, sent);
  SendRequest got;
  ASSERT_EQ(decode(ByteView(bytes).subspan(kRecordHeaderBytes), got), Drop::none);
  EXPECT_EQ(got.payload.data(), bytes.data() + bytes.size() - 7);
  EXPECT_EQ(as_text(got.payload), "payload");
  EXPECT_EQ(got.targets[0], "orders");
}

TEST(ClientRecords, AnyDamageIsRefusedOrIsAnotherRecord) {
  std::map<Drop, std::uint64_t> reasons;
  const auto examine_one = [&](const ClientSample& sample, const Bytes& bytes) {
    const ClientVerdict verdict = examine_record(bytes);
    ++reasons[verdict.drop];
    ASSERT_EQ(verdict.wrong, nullptr) << sample.name << ": " << verdict.wrong;
  };
  for (const ClientSample& sample : client_samples()) {
    const Bytes& good = sample.bytes;
    for (std::size_t at = 0; at < good.size(); ++at) {
      // The record is cut, and its length field has the old length, then the new length.
      Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at));
      examine_one(sample, cut);
      if (at >= kRecordHeaderBytes) {
        store(ByteSpan(cut), static_cast<std::uint32_t>(at - 4));
        examine_one(sample, cut);
      }
      for (unsigned value = 0; value < 256; ++value) {
        Bytes bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        examine_one(sample, bytes);
        bytes = good;
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     static_cast<std::byte>(value));
        if (at >= 4) store(ByteSpan(bytes), static_cast<std::uint32_t>(bytes.size() - 4));
        examine_one(sample, bytes);
      }
      for (const std::size_t width : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
        if (at + width > good.size()) continue;
        Bytes huge = good;
        std::memset(huge.data() + at, 0xff, width);
        examine_one(sample, huge);
      }
    }
  }
  for (const Drop reason :
       {Drop::none, Drop::truncated, Drop::trailing_bytes, Drop::bad_length, Drop::unknown_kind,
        Drop::bad_version, Drop::count_too_large, Drop::not_sorted, Drop::bad_value}) {
    EXPECT_GT(reasons[reason], 0U) << drop_name(reason);
  }
}

TEST(ClientRecords, CutShortAreTruncatedWhereverTheirFieldsEnd) {
  for (const ClientSample& sample : client_samples()) {
    const auto kind = static_cast<RecordKind>(sample.bytes[4]);
    const bool open_end = kind == RecordKind::send || kind == RecordKind::message ||
                          kind == RecordKind::hello || kind == RecordKind::refused ||
                          kind == RecordKind::reply || kind == RecordKind::closing;
    if (open_end || kind == RecordKind::goodbye) continue;
    for (std::size_t size = kRecordHeaderBytes; size < sample.bytes.size(); ++size) {
      Bytes cut(sample.bytes.begin(), sample.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      store(ByteSpan(cut), static_cast<std::uint32_t>(size - 4));
      EXPECT_EQ(examine_record(cut).drop, Drop::truncated) << sample.name << " cut to " << size;
    }
    Bytes longer = sample.bytes;
    longer.push_back(std::byte{0});
    store(ByteSpan(longer), static_cast<std::uint32_t>(longer.size() - 4));
    EXPECT_EQ(examine_record(longer).drop, Drop::trailing_bytes) << sample.name;
  }
}

TEST(ClientRecords, FieldsOutsideTheirRangesAreRefused) {
  const auto send = [](const std::function<void(SendRequest&)>& change) {
    return decode_changed<SendRequest>("send", change);
  };
  EXPECT_EQ(send([](SendRequest&) {}), Drop::none);
  EXPECT_EQ(send([](SendRequest& r) { r.number = 0; }), Drop::bad_value);
  EXPECT_EQ(send([](SendRequest& r) { r.number = kCounterMax + 1; }), Drop::bad_value);
  EXPECT_EQ(send([](SendRequest& r) { r.service = static_cast<Service>(4); }), Drop::bad_value);
  EXPECT_EQ(send([](SendRequest& r) { r.targets.clear(); }), Drop::bad_value);
  EXPECT_EQ(send([](SendRequest& r) { r.targets[0] = ""; }), Drop::bad_value);
  const auto join = [](const std::function<void(JoinRequest&)>& change) {
    return decode_changed<JoinRequest>("join", change);
  };
  EXPECT_EQ(join([](JoinRequest& r) { r.limits.policy = static_cast<SlowPolicy>(5); }),
            Drop::bad_value);
  const auto view = [](const std::function<void(GroupViewEvent&)>& change) {
    return decode_changed<GroupViewEvent>("group_view, join", change);
  };
  EXPECT_EQ(view([](GroupViewEvent& r) { r.members.clear(); }), Drop::bad_value);
  EXPECT_EQ(view([](GroupViewEvent& r) { r.changed = ""; }), Drop::bad_value);
  EXPECT_EQ(view([](GroupViewEvent& r) { r.reason = ClientCode::slow; }), Drop::bad_value);
  EXPECT_EQ(view([](GroupViewEvent& r) { r.index = 0; }), Drop::bad_value);
  EXPECT_EQ(view([](GroupViewEvent& r) { r.view.number = 0; }), Drop::bad_value);
  EXPECT_EQ(decode_changed<GapEvent>("gap", [](GapEvent& r) { std::swap(r.first, r.last); }),
            Drop::bad_value);
  EXPECT_EQ(decode_changed<GapEvent>("gap", [](GapEvent& r) { r.messages = 0; }), Drop::bad_value);
  EXPECT_EQ(decode_changed<MessageEvent>(
                "message", [](MessageEvent& r) { std::swap(r.targets[0], r.targets[1]); }),
            Drop::not_sorted);
  EXPECT_EQ(decode_changed<Welcome>("welcome", [](Welcome& r) { r.acked = r.received + 1; }),
            Drop::bad_value);
  EXPECT_EQ(decode_changed<Hello>("hello", [](Hello& r) { r.version = 2; }), Drop::bad_version);
  EXPECT_EQ(decode_changed<Refused>("refused", [](Refused& r) { r.code = ClientCode::ok; }),
            Drop::bad_value);
  EXPECT_EQ(
      decode_changed<Closing>("closing", [](Closing& r) { r.code = ClientCode{kClientCodes}; }),
      Drop::bad_value);
}

TEST(ClientRecords, OnlyFifoAndCausalMessagesComeWithoutAPlace) {
  const auto message = [](const std::function<void(MessageEvent&)>& change) {
    return decode_changed<MessageEvent>("message, without a place", change);
  };
  EXPECT_EQ(message([](MessageEvent& r) { r.service = Service::fifo; }), Drop::none);
  EXPECT_EQ(message([](MessageEvent& r) { r.service = Service::agreed; }), Drop::bad_value);
  EXPECT_EQ(message([](MessageEvent& r) { r.service = Service::safe; }), Drop::bad_value);
  EXPECT_EQ(message([](MessageEvent& r) { r.place.index = 1; }), Drop::bad_value);
  EXPECT_EQ(message([](MessageEvent& r) { r.number = kCounterMax + 1; }), Drop::bad_value);
  EXPECT_EQ(
      decode_changed<MessageEvent>("message", [](MessageEvent& r) { r.service = Service::causal; }),
      Drop::none)
      << "other engines give causal messages a place";
  for (const ClientSample& each : client_samples()) {
    if (each.name != "message, without a place") continue;
    MessageEvent got;
    const ByteView whole = ByteView(each.bytes).subspan(kRecordHeaderBytes);
    Bytes body(whole.begin(), whole.end());
    ASSERT_EQ(decode(body, got), Drop::none);
    EXPECT_EQ(got.number, 21U);
    constexpr std::ptrdiff_t kPlaceBytes = 32;
    std::fill_n(body.begin() + kPlaceBytes, 8, std::byte{0});
    EXPECT_EQ(decode(body, got), Drop::bad_value) << "numbers count from 1";
  }
}

TEST(ClientRecords, AGapHasBothPlacesOrNone) {
  const auto gap = [](const char* sample, const std::function<void(GapEvent&)>& change) {
    return decode_changed<GapEvent>(sample, change);
  };
  EXPECT_EQ(gap("gap", [](GapEvent& r) { r.first.position = r.first.index = 0; }), Drop::bad_value);
  EXPECT_EQ(gap("gap, without a place", [](GapEvent& r) { r.last.position = 1; }), Drop::bad_value);
  EXPECT_EQ(gap("gap, without a place", [](GapEvent& r) { r.last.index = 1; }), Drop::bad_value);
  EXPECT_EQ(gap("gap, without a place", [](GapEvent& r) { ++r.last.view.number; }), Drop::none);
}

TEST(ClientRecords, MoreTargetsThanAllowedAreRefused) {
  Bytes body(8 + 1 + 2 + 1, std::byte{0});
  body[0] = std::byte{1};
  body.push_back(std::byte{65});
  for (int i = 0; i < 65; ++i) body.insert(body.end(), {std::byte{1}, std::byte{'g'}});
  SendRequest request;
  EXPECT_EQ(decode(body, request), Drop::count_too_large);
  body[12] = std::byte{64};
  EXPECT_EQ(decode(body, request), Drop::none);
  EXPECT_EQ(request.targets.size(), 64U);
}

TEST(ClientRecords, TextsAreCutAtTheEndOfACharacter) {
  std::string text(kTextBytesMax - 1, 'x');
  text += "\xc3\xa9";
  Bytes bytes;
  append(bytes, Refused{1, ClientCode::too_large, text});
  Refused got;
  ASSERT_EQ(decode(ByteView(bytes).subspan(kRecordHeaderBytes), got), Drop::none);
  EXPECT_EQ(got.text, std::string(kTextBytesMax - 1, 'x'));
}

TEST(ClientRecords, AreFoundInAStreamThatComesInPieces) {
  Bytes stream;
  for (const ClientSample& each : client_samples()) {
    stream.insert(stream.end(), each.bytes.begin(), each.bytes.end());
  }
  std::size_t at = 0;
  for (const ClientSample& each : client_samples()) {
    for (std::size_t size = 0; size < each.bytes.size(); ++size) {
      const Framed framed = next_record(ByteView(stream).subspan(at, size), 1'000);
      EXPECT_EQ(framed.state, Framed::State::incomplete);
      EXPECT_EQ(framed.bytes, size < 4 ? 0 : each.bytes.size());
    }
    const Framed framed = next_record(ByteView(stream).subspan(at), 1'000);
    ASSERT_EQ(framed.state, Framed::State::complete);
    EXPECT_EQ(framed.bytes, each.bytes.size());
    at += framed.bytes;
  }
  EXPECT_EQ(at, stream.size());
}

TEST(ClientRecords, ALengthOfNothingOrOfTooMuchIsRefusedBeforeTheRestIsThere) {
  Bytes bytes(4, std::byte{0});
  EXPECT_EQ(next_record(bytes, 1'000).state, Framed::State::bad_length);
  store(ByteSpan(bytes), std::uint32_t{1'000});
  EXPECT_EQ(next_record(bytes, 1'000).state, Framed::State::incomplete);
  store(ByteSpan(bytes), std::uint32_t{1'001});
  EXPECT_EQ(next_record(bytes, 1'000).state, Framed::State::bad_length);
}

TEST(ClientCodes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (std::uint8_t code = 0; code < kClientCodes; ++code) {
    names.insert(client_code_name(static_cast<ClientCode>(code)));
  }
  EXPECT_EQ(names.size(), kClientCodes);
  EXPECT_EQ(client_code_name(ClientCode::slow), "slow");
  EXPECT_EQ(client_code_name(ClientCode::dropped), "dropped");
}

}  // namespace
}  // namespace peal::wire::test
