// SPDX-License-Identifier: Apache-2.0
#include "wire/shared.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

/// A page of memory with one record in its second block.
struct Page {
  Page() {
    append(record, RecordKind::left, GroupEvent{"bids"});
    at = {64, static_cast<std::uint32_t>(record.size()), 7};
    write_shared(block(), at.generation, ByteView(record).first(6), ByteView(record).subspan(6));
  }
  ByteSpan block() { return ByteSpan(memory).subspan(at.offset, 128); }
  SharedRead read(const Shared& from) { return read_shared(memory, from, kind, body); }

  Bytes record;
  alignas(8) std::array<std::byte, 4'096> memory{};
  Shared at{64, 0, 0};
  RecordKind kind{};
  Bytes body;
};

TEST(SharedMemory, GivesBackTheRecordThatWasWritten) {
  Page page;
  ASSERT_EQ(page.read(page.at), SharedRead::ok);
  EXPECT_EQ(page.kind, RecordKind::left);
  GroupEvent event;
  ASSERT_EQ(decode(page.body, event), Drop::none);
  EXPECT_EQ(event.group, "bids");
}

TEST(SharedMemory, SaysThatARecordIsGoneOnceSomethingElseIsThere) {
  Page page;
  clear_shared(page.block());
  EXPECT_EQ(page.read(page.at), SharedRead::gone);
  write_shared(page.block(), 8, page.record, {});
  EXPECT_EQ(page.read(page.at), SharedRead::gone);
  EXPECT_EQ(page.read({64, page.at.bytes, 8}), SharedRead::ok);
}

TEST(SharedMemory, ReadsNothingOutsideOfTheMemory) {
  Page page;
  for (const std::uint32_t offset : {4'032U, 4'096U, 8'192U, 0xffff'ffc0U}) {
    EXPECT_EQ(page.read({offset, 57, 7}), SharedRead::bad) << offset;
  }
  EXPECT_EQ(page.read({64, 4'096 - 64 - 7, 7}), SharedRead::bad);
  EXPECT_EQ(page.read({64, 0xffff'ffff, 7}), SharedRead::bad);
  EXPECT_EQ(page.read({64, 4, 7}), SharedRead::bad);
  EXPECT_EQ(page.read({65, page.at.bytes, 7}), SharedRead::bad);
  EXPECT_EQ(read_shared({}, page.at, page.kind, page.body), SharedRead::bad);
}

TEST(SharedMemory, TakesNoRecordOfAnotherLength) {
  Page page;
  EXPECT_EQ(page.read({64, page.at.bytes + 1, 7}), SharedRead::bad);
  EXPECT_EQ(page.read({64, page.at.bytes - 1, 7}), SharedRead::bad);
}

TEST(SharedMemory, IsNamedByPlacesThatCanBe) {
  const auto decoded = [](const Shared& place) {
    Bytes bytes;
    append(bytes, place);
    Shared again;
    return decode(ByteView(bytes).subspan(kRecordHeaderBytes), again);
  };
  EXPECT_EQ(decoded({64, 5, 1}), Drop::none);
  EXPECT_EQ(decoded({0xffff'ffc0, kSharedRecordMax, 1}), Drop::none);
  EXPECT_EQ(decoded({32, 5, 1}), Drop::bad_value);
  EXPECT_EQ(decoded({64, 4, 1}), Drop::bad_value);
  EXPECT_EQ(decoded({64, kSharedRecordMax + 1, 1}), Drop::bad_value);
  EXPECT_EQ(decoded({64, 5, 0}), Drop::bad_value);
  EXPECT_EQ(decoded({64, 5, ~std::uint64_t{0}}), Drop::bad_value);
}

TEST(MessageHead, IsTheRecordWithoutItsPayload) {
  MessageEvent event;
  event.place = {{7, {NodeId{2}, 1'000}}, 44, 3};
  event.sender = "#feed#a";
  event.targets.push_back("bids");
  const std::string payload(1'000, 'p');
  event.payload = as_bytes_view(payload);
  Bytes whole;
  append(whole, event);
  Bytes parts;
  append_head(parts, event);
  EXPECT_EQ(parts.size() + payload.size(), whole.size());
  parts.insert(parts.end(), event.payload.begin(), event.payload.end());
  EXPECT_EQ(parts, whole);
}

}  // namespace
}  // namespace peal::wire::test
