// SPDX-License-Identifier: Apache-2.0
#include "cli/local_protocol.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/result.h"

namespace peal::cli {
namespace {

using Bytes = std::vector<std::byte>;

const std::string kA = "a.210987654321";
const std::string kB = "node-b.5";

Record only_record(const Bytes& bytes) {
  const Framed framed = next_record(bytes, 1'000'000, 1'000'000);
  EXPECT_EQ(framed.state, Framed::State::complete);
  EXPECT_EQ(framed.bytes, bytes.size());
  return framed.record;
}

Welcome sample_welcome() { return {64U << 20, "demo", "a"}; }

MessageRecord sample_message() {
  return {kB, 42, "7@a.5", true, 99, 3, Service::safe, as_bytes_view("hello")};
}

ViewRecord sample_view() {
  return {true, false, "8@" + kB, "7@" + kA, {kA, kB}, "c left", {0xabcd, 10, 1'000}};
}

TEST(LocalProtocol, RoundTrips) {
  Bytes out;
  append_hello(out);
  EXPECT_EQ(parse_hello(only_record(out).body), kLocalVersion);

  out.clear();
  append_send(out, Service::safe, as_bytes_view("x"));
  const auto request = parse_send(only_record(out).body);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->service, Service::safe);
  EXPECT_EQ(as_text(request->payload), "x");

  out.clear();
  append_ordered(out, 12);
  EXPECT_EQ(parse_ordered(only_record(out).body), 12U);

  out.clear();
  append_welcome(out, sample_welcome());
  const auto welcome = parse_welcome(only_record(out).body);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->message_bytes_max, 64U << 20);
  EXPECT_EQ(welcome->cluster, "demo");
  EXPECT_EQ(welcome->node, "a");

  out.clear();
  append_message(out, sample_message());
  const auto message = parse_message(only_record(out).body);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sender, kB);
  EXPECT_EQ(message->number, 42U);
  EXPECT_EQ(message->view, "7@a.5");
  EXPECT_TRUE(message->transitional);
  EXPECT_EQ(message->position, 99U);
  EXPECT_EQ(message->index, 3U);
  EXPECT_EQ(message->service, Service::safe);
  EXPECT_EQ(as_text(message->payload), "hello");

  out.clear();
  append_view(out, sample_view());
  const auto view = parse_view(only_record(out).body);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->transitional);
  EXPECT_EQ(view->primary, false);
  EXPECT_EQ(view->id, "8@" + kB);
  EXPECT_EQ(view->old, "7@" + kA);
  EXPECT_EQ(view->members, (std::vector<std::string>{kA, kB}));
  EXPECT_EQ(view->digest, (OrderDigest{0xabcd, 10, 1'000}));
}

TEST(LocalProtocol, EveryCutIsRefusedOrIncomplete) {
  Bytes welcome, message, view;
  append_welcome(welcome, sample_welcome());
  append_message(message, sample_message());
  append_view(view, sample_view());
  for (const Bytes* whole : {&welcome, &message, &view}) {
    for (std::size_t size = 0; size < whole->size(); ++size) {
      EXPECT_EQ(next_record(ByteView(*whole).first(size), 1'000'000, 1'000'000).state,
                Framed::State::incomplete);
    }
    const ByteView body = ByteView(*whole).subspan(kRecordHeaderBytes);
    for (std::size_t size = 0; size < body.size(); ++size) {
      const ByteView cut = body.first(size);
      // A message's payload may have any length: only its head cannot be cut.
      const bool in_head = size < body.size() - sample_message().payload.size();
      EXPECT_FALSE(whole == &welcome && parse_welcome(cut)) << size;
      EXPECT_FALSE(whole == &message && in_head && parse_message(cut)) << size;
      EXPECT_FALSE(whole == &view && parse_view(cut)) << size;
    }
    Bytes longer(body.begin(), body.end());
    longer.push_back(std::byte{0});
    EXPECT_FALSE(whole == &welcome && parse_welcome(longer));
    EXPECT_FALSE(whole == &view && parse_view(longer));
  }
}

TEST(LocalProtocol, LengthsAreBounded) {
  const auto framed = [](std::uint32_t length, RecordKind kind) {
    Bytes bytes;
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(length >> (8 * i) & 0xff));
    bytes.push_back(static_cast<std::byte>(kind));
    return next_record(bytes, 64, 1'000).state;
  };
  using State = Framed::State;
  EXPECT_EQ(framed(0, RecordKind::status), State::too_long);
  EXPECT_EQ(framed(1, RecordKind::status), State::complete);
  EXPECT_EQ(framed(65, RecordKind::status), State::incomplete);
  EXPECT_EQ(framed(66, RecordKind::status), State::too_long);
  EXPECT_EQ(framed(1'001, RecordKind::send), State::incomplete);
  EXPECT_EQ(framed(1'002, RecordKind::send), State::too_long);
  EXPECT_EQ(framed(0xffff'ffff, RecordKind::send), State::too_long);
  EXPECT_EQ(framed(0xffff'ffff, static_cast<RecordKind>(200)), State::too_long);
}

TEST(LocalProtocol, NonsenseIsRefused) {
  Bytes out;
  append_send(out, Service::fifo, {});
  EXPECT_FALSE(parse_send(only_record(out).body));
  EXPECT_FALSE(parse_send({}));
  const std::byte nine{9};
  EXPECT_FALSE(parse_send({&nine, 1}));
  EXPECT_FALSE(parse_hello({}));
  EXPECT_FALSE(parse_ordered({}));
}

TEST(LocalProtocol, AnyBytesAreSafeToParse) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random.below(120));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    if (bytes.size() > 4) bytes[1] = bytes[2] = bytes[3] = std::byte{0};
    const Framed framed = next_record(bytes, 64, 100);
    EXPECT_TRUE(framed.state != Framed::State::complete || framed.bytes <= bytes.size());
    // Whatever parses, parses to what was there: encoding it gives the bytes back.
    if (const auto view = parse_view(bytes)) {
      Bytes again;
      append_view(again, *view);
      EXPECT_EQ(Bytes(again.begin() + kRecordHeaderBytes, again.end()), bytes);
    }
    if (const auto message = parse_message(bytes)) {
      Bytes again;
      append_message(again, *message);
      EXPECT_EQ(Bytes(again.begin() + kRecordHeaderBytes, again.end()), bytes);
    }
    ignore(parse_welcome(bytes), "only that it returns");
  }
}

TEST(OrderDigest, TellsOrdersApart) {
  OrderDigest first, second, third;
  first.add(kA, 1, as_bytes_view("x"));
  first.add(kB, 1, as_bytes_view("y"));
  second.add(kB, 1, as_bytes_view("y"));
  second.add(kA, 1, as_bytes_view("x"));
  third.add(kA, 1, as_bytes_view("x"));
  EXPECT_NE(first.value, second.value);
  EXPECT_NE(first.value, third.value);
  third.add(kB, 1, as_bytes_view("y"));
  EXPECT_EQ(first, third);
  EXPECT_EQ(first.messages, 2U);
  EXPECT_EQ(first.bytes, 2U);
}

}  // namespace
}  // namespace peal::cli
