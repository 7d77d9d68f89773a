// SPDX-License-Identifier: Apache-2.0
#include "io/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"

namespace peal::io {
namespace {

constexpr std::uint32_t kMost = 1'000;

std::string framed(const std::string& packet) {
  std::vector<std::byte> length(kLengthBytes);
  write_length(static_cast<std::uint32_t>(packet.size()), length);
  return std::string(as_text(length)) + packet;
}

std::string text_of(std::size_t bytes, char first) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i)
    text += static_cast<char>(first + static_cast<int>(i % 7));
  return text;
}

class FrameReaderTest : public ::testing::Test {
 protected:
  /// Gives all bytes to the reader, as many at once as fit. Stops at a bad length.
  FrameReader::Found read(std::string_view bytes) {
    while (!bytes.empty()) {
      const ByteSpan room = reader_.room();
      EXPECT_FALSE(room.empty());
      const std::size_t some = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), some);
      reader_.note(some);
      bytes.remove_prefix(some);
      if (take_out() == FrameReader::Found::bad_length) return FrameReader::Found::bad_length;
    }
    return FrameReader::Found::nothing;
  }
  FrameReader::Found take_out() {
    BufferRef packet;
    while (true) {
      const auto found = reader_.next(packet);
      if (found != FrameReader::Found::packet) return found;
      got_.emplace_back(as_text(packet.view()));
      if (keep_) kept_.push_back(packet);
    }
  }

  BufferPool pool_{4 * kMost, 4};
  FrameReader reader_{pool_, kMost};
  std::vector<std::string> got_;
  std::vector<BufferRef> kept_;
  bool keep_ = false;
};

TEST_F(FrameReaderTest, PacketsComeOutWhereverTheStreamIsCut) {
  const std::vector<std::string> packets{"a", text_of(255, 'a'), text_of(256, 'k'), "bc",
                                         text_of(kMost, 'A')};
  std::string stream;
  for (const std::string& each : packets) stream += framed(each);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    got_.clear();
    read(std::string_view(stream).substr(0, cut));
    read(std::string_view(stream).substr(cut));
    ASSERT_EQ(got_, packets) << "cut at " << cut;
  }
  got_.clear();
  for (const char each : stream) read({&each, 1});
  EXPECT_EQ(got_, packets);
}

TEST_F(FrameReaderTest, LengthsThatNoPacketHasEndTheStream) {
  EXPECT_EQ(read(framed("good") + std::string(4, '\0') + "more"), FrameReader::Found::bad_length);
  EXPECT_EQ(got_, std::vector<std::string>{"good"});
  for (const std::uint32_t length : {kMost + 1, 0x8000'0000U, 0xffff'ffffU}) {
    FrameReader reader(pool_, kMost);
    write_length(length, reader.room());
    reader.note(kLengthBytes);
    BufferRef packet;
    EXPECT_EQ(reader.next(packet), FrameReader::Found::bad_length) << length;
    EXPECT_FALSE(packet);
  }
}

TEST_F(FrameReaderTest, KeptPacketsStayAsTheyAre) {
  keep_ = true;
  std::vector<std::string> all;
  // The packets fill more than two slabs. All are kept, so none may be overwritten.
  for (int i = 0; i < 9; ++i) {
    all.push_back(text_of(kMost - static_cast<std::size_t>(i), static_cast<char>('a' + i)));
    read(framed(all.back()));
  }
  EXPECT_EQ(got_, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(as_text(kept_[i].view()), all[i]);
}

TEST_F(FrameReaderTest, WithoutASlabThereIsNoRoomAndNothingIsLost) {
  const std::string packet = text_of(kMost, 'a');
  const std::string stream = framed(packet);
  keep_ = true;
  // The slab has no space for the rest of the fourth packet.
  read(stream + stream + stream + stream.substr(0, 10));
  std::vector<BufferRef> others;
  while (BufferRef slab = pool_.take()) others.push_back(slab);
  EXPECT_TRUE(reader_.room().empty());
  EXPECT_TRUE(reader_.room().empty());
  others.pop_back();
  read(stream.substr(10));
  EXPECT_EQ(got_, std::vector<std::string>(4, packet));
}

TEST_F(FrameReaderTest, OneSlabServesForEverAsLongAsNothingIsKept) {
  for (int i = 0; i < 100; ++i) read(framed(text_of(kMost, 'a')));
  EXPECT_EQ(pool_.free_count(), pool_.slab_count() - 1);
  EXPECT_EQ(got_.size(), 100U);
}

TEST_F(FrameReaderTest, AnyBytesAreLegal) {
  Random random(7);
  for (int round = 0; round < 2'000; ++round) {
    FrameReader reader(pool_, kMost);
    BufferRef packet;
    for (int read = 0; read < 8; ++read) {
      const ByteSpan room = reader.room();
      ASSERT_GE(room.size(), 1U);
      const auto bytes = std::min<std::size_t>(room.size(), random.below(600));
      for (std::size_t i = 0; i < bytes; ++i) room[i] = std::byte(random.below(3));
      reader.note(bytes);
      FrameReader::Found found{};
      while ((found = reader.next(packet)) == FrameReader::Found::packet) {
        ASSERT_GE(packet.size(), 1U);
        ASSERT_LE(packet.size(), kMost);
      }
      if (found == FrameReader::Found::bad_length) break;
    }
  }
}

}  // namespace
}  // namespace peal::io
