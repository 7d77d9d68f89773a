// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/records.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "io/fabric/byte_queue.h"
#include "io/fabric/hello.h"

namespace peal::io::fabric {
namespace {

using Bytes = std::vector<std::byte>;
using What = Record::Kind;

Record record_of(What kind) {
  Record record;
  record.kind = kind;
  return record;
}

/// One record of each kind, with all its fields.
std::vector<Record> samples(ByteView bytes) {
  std::vector<Record> all{record_of(What::ready), record_of(What::wake)};
  for (const What kind : {What::withdraw, What::ask, What::unknown, What::expose, What::write}) {
    Record record = record_of(kind);
    record.number = 200;
    record.epoch = 0x1122'3344'5566'7788;
    if (kind == What::ask || kind == What::unknown) record.count = 77;
    if (kind == What::expose || kind == What::write) record.value = 0x99aa'bbcc;
    if (kind == What::write) record.bytes = bytes;
    all.push_back(record);
    if (kind == What::write) {
      record.last = false;
      all.push_back(record);
    }
  }
  for (const What kind : {What::offer, What::join, What::joined}) {
    Record record = record_of(kind);
    record.number = 200;
    record.epoch = 5;
    if (kind == What::offer) record.value = 0x99aa'bbcc;
    if (kind != What::joined) record.bytes = bytes;
    all.push_back(record);
  }
  for (const auto end : {port::WriteEnd::ok, port::WriteEnd::denied}) {
    Record record = record_of(What::answer);
    record.end = end;
    record.count = 0xffff'ffff;
    all.push_back(record);
  }
  return all;
}

Bytes encoded(const std::vector<Record>& records) {
  Bytes frame(4'096);
  std::size_t used = 0;
  for (const Record& record : records) used += encode_record(record, ByteSpan(frame).subspan(used));
  frame.resize(used);
  return frame;
}

TEST(FabricRecords, AreReadAsTheyWereWritten) {
  const Bytes content(33, std::byte{5});
  const std::vector<Record> records = samples(content);
  const Bytes frame = encoded(records);
  RecordReader reader(frame);
  for (const Record& expected : records) {
    const auto found = reader.next();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, expected.kind);
    EXPECT_EQ(found->number, expected.number);
    EXPECT_EQ(found->last, expected.last);
    EXPECT_EQ(found->end, expected.end);
    EXPECT_EQ(found->count, expected.count);
    EXPECT_EQ(found->epoch, expected.epoch);
    EXPECT_EQ(found->value, expected.value);
    EXPECT_EQ(Bytes(found->bytes.begin(), found->bytes.end()),
              Bytes(expected.bytes.begin(), expected.bytes.end()));
  }
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.failed());
}

/// Reads all records of a frame, and writes them again. Empty if the frame is bad.
Bytes written_again(ByteView frame) {
  RecordReader reader(frame);
  std::vector<Record> records;
  while (const auto record = reader.next()) records.push_back(*record);
  return reader.failed() ? Bytes() : encoded(records);
}

TEST(FabricRecords, HaveOneEncodingAndNoOther) {
  const Bytes content(9, std::byte{5});
  int bad = 0;
  int good = 0;
  for (const Record& record : samples(content)) {
    const Bytes frame = encoded({record});
    EXPECT_EQ(written_again(frame), frame);
    for (std::size_t at = 0; at < frame.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        Bytes changed = frame;
        changed[at] ^= static_cast<std::byte>(1U << bit);
        const Bytes again = written_again(changed);
        ++(again.empty() ? bad : good);
        if (!again.empty()) {
          EXPECT_EQ(again, changed) << at << " " << bit;
        }
      }
    }
    for (std::size_t size = 1; size < frame.size(); ++size) {
      EXPECT_TRUE(written_again(ByteView(frame).first(size)).empty()) << size;
    }
  }
  EXPECT_GT(bad, 500);
  EXPECT_GT(good, 500);
}

TEST(FabricRecords, ALengthBeyondTheFrameIsRefused) {
  const Bytes content(9, std::byte{5});
  Record record = record_of(What::write);
  record.bytes = content;
  Bytes frame = encoded({record});
  for (const std::uint32_t length : {0U, 10U, 0x7fff'ffffU, 0xffff'ffffU}) {
    store(ByteSpan(frame).subspan(4), length);
    RecordReader reader(frame);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.failed());
    EXPECT_FALSE(reader.next()) << "it stays failed";
  }
}

TEST(FabricRecords, RandomBytesAreNeverReadBeyondTheirEnd) {
  Random random(3);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    Bytes frame(random.below(120));
    for (std::byte& each : frame) {
      each = static_cast<std::byte>(random.chance(0.8) ? 0 : random.below(10));
    }
    if (!frame.empty()) frame[0] = static_cast<std::byte>(random.below(10));
    RecordReader reader(frame);
    while (const auto record = reader.next()) {
      ++read;
      EXPECT_LE(record->bytes.size(), frame.size());
    }
  }
  EXPECT_GT(read, 10);
}

// ---- the handshake ----

Options options_of(const MemberId& self) {
  Options options;
  options.self = self;
  options.cluster = 9;
  options.peers = {{{1}, {}, ""}, {{2}, {}, ""}};
  return options;
}

TEST(FabricHello, IsReadAsItWasWritten) {
  Hello hello = make_hello(options_of({{2}, 55}), {1}, fabric::Kind::shm);
  hello.sealed = true;
  hello.key = 0x0102'0304;
  Bytes bytes(kHelloBytes);
  encode_hello(hello, bytes);
  const HelloOrRefusal read = decode_hello(bytes);
  ASSERT_TRUE(read.hello);
  EXPECT_EQ(read.hello->fabric, fabric::Kind::shm);
  EXPECT_EQ(read.hello->key, hello.key);
  EXPECT_TRUE(read.hello->sealed);
  EXPECT_EQ(read.hello->cluster, 9U);
  EXPECT_EQ(read.hello->writer, (MemberId{{2}, 55}));
  EXPECT_EQ(read.hello->owner, NodeId{1});
  EXPECT_EQ(read.hello->fresh, hello.fresh);
  EXPECT_NE(hello.fresh, make_hello(options_of({{2}, 55}), {1}, fabric::Kind::shm).fresh);

  Bytes again(kHelloBytes);
  int refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] ^= std::byte{0x40};
    const HelloOrRefusal found = decode_hello(changed);
    if (!found.hello) {
      ++refused;
      continue;
    }
    encode_hello(*found.hello, again);
    EXPECT_EQ(again, changed) << at;
  }
  EXPECT_EQ(refused, 4 + 4 + 4) << "magic; version, step, fabric, sealed; zeros";
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_hello(ByteView(bytes).first(size)).hello);
  }
}

TEST(FabricHello, AnswersAreReadAsTheyWereWritten) {
  Bytes bytes(kWelcomeBytes);
  const Welcome welcome{{{1}, 77}, fresh_bytes()};
  encode_welcome(welcome, bytes);
  const HelloAnswer read = decode_answer(bytes);
  ASSERT_TRUE(read.welcome);
  EXPECT_EQ(read.welcome->owner, welcome.owner);
  EXPECT_EQ(read.welcome->fresh, welcome.fresh);
  EXPECT_FALSE(read.refused);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_answer(ByteView(bytes).first(size)).welcome);
  }
  bytes.resize(kRefusedBytes);
  for (int why = 1; why <= static_cast<int>(Refusal::other_settings); ++why) {
    encode_refused(static_cast<Refusal>(why), bytes);
    const auto refused = decode_answer(bytes).refused;
    EXPECT_EQ(refused, static_cast<Refusal>(why));
    const std::string text = text_of(*refused, "node 1 at /run/x", options_of({{2}, 5}));
    EXPECT_EQ(text.find("node 1 at /run/x: "), 0U);
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  bytes[6] = std::byte{99};
  EXPECT_EQ(decode_answer(bytes).refused, Refusal::version) << "a reason of a later version";
}

TEST(FabricHello, IsJudgedByAllThatItSays) {
  const Options owner = options_of({{1}, 5});
  const Hello good = make_hello(options_of({{2}, 6}), {1}, fabric::Kind::tcp);
  EXPECT_FALSE(judge_hello(good, fabric::Kind::tcp, owner, false));
  EXPECT_EQ(judge_hello(good, fabric::Kind::shm, owner, false), Refusal::other_fabric);
  const auto judge = [&](auto change) {
    Hello hello = good;
    change(hello);
    return judge_hello(hello, fabric::Kind::tcp, owner, false);
  };
  EXPECT_EQ(judge([](Hello& hello) { hello.cluster += 1ULL << 32; }), Refusal::other_cluster);
  EXPECT_EQ(judge([](Hello& hello) { hello.cluster += 1; }), Refusal::other_settings);
  EXPECT_EQ(judge([](Hello& hello) { hello.owner = {3}; }), Refusal::other_node);
  EXPECT_EQ(judge([](Hello& hello) { hello.writer.node = {3}; }), Refusal::unknown_node);
  EXPECT_EQ(judge([](Hello& hello) { hello.sealed = true; }), Refusal::key_unwanted);
}

TEST(FabricHello, ForVerbsComesByTcpToAnOwnerThatHasThem) {
  Options owner = options_of({{1}, 5});
  const Hello hello = make_hello(options_of({{2}, 6}), {1}, fabric::Kind::verbs);
  EXPECT_FALSE(judge_hello(hello, fabric::Kind::tcp, owner, true));
  EXPECT_EQ(judge_hello(hello, fabric::Kind::tcp, owner, false), Refusal::no_verbs);
  EXPECT_EQ(judge_hello(hello, fabric::Kind::shm, owner, true), Refusal::other_fabric);
  owner.choice = Choice::verbs;
  EXPECT_FALSE(judge_hello(hello, fabric::Kind::tcp, owner, true));
  const Hello other = make_hello(options_of({{2}, 6}), {1}, fabric::Kind::tcp);
  EXPECT_EQ(judge_hello(other, fabric::Kind::tcp, owner, true), Refusal::other_fabric);
}

// ---- the queue of bytes ----

TEST(FabricByteQueue, KeepsBytesInOrder) {
  ByteQueue queue;
  Random random(11);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t put = random.below(200);
    const ByteSpan room = queue.room(put);
    for (std::size_t at = 0; at < put; ++at) room[at] = static_cast<std::byte>(in++);
    queue.commit(put);
    const std::size_t taken = random.below(queue.size() + 1);
    for (std::size_t at = 0; at < taken; ++at) {
      ASSERT_EQ(queue.view()[at], static_cast<std::byte>(out++));
    }
    queue.pop(taken);
    ASSERT_EQ(queue.size(), in - out);
  }
  EXPECT_GT(out, 100'000U);
}

}  // namespace
}  // namespace peal::io::fabric
