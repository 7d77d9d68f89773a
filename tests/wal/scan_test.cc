// SPDX-License-Identifier: Apache-2.0
#include "wal/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "story.h"

namespace peal::wal {
namespace {

/// A segment in memory, which a test writes frame by frame.
class Bytes {
 public:
  explicit Bytes(std::uint64_t salt = 5, std::uint32_t file_bytes = 0, std::uint64_t serial = 1) {
    bytes_.resize(kHeaderBytes);
    decoded_.header = {test::kOwner, file_bytes, 1, serial, LogPosition{1}, 1, salt, 1};
    decoded_.seed = encode(decoded_.header, bytes_);
  }
  /// Appends a frame, and returns its offset.
  std::size_t frame(FrameKind kind, std::uint64_t position, std::uint64_t durable,
                    std::string_view record = {}, std::uint64_t oldest = 1) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + frame_bytes(record.size()));
    const ByteView text = as_bytes_view(record);
    std::copy(text.begin(), text.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(at + kFrameBytes));
    seal_frame(ByteSpan(bytes_).subspan(at),
               {kind, LogPosition{position}, LogPosition{durable}, oldest, {}}, record.size(),
               decoded_.seed);
    return at;
  }
  void damage(std::size_t at) { bytes_[at] ^= std::byte{4}; }
  /// The fields of a scan that tests compare.
  static auto fields(const Scan& scan) {
    return std::tuple(scan.end, scan.last, scan.durable, scan.oldest, scan.ended, scan.tail,
                      scan.damage_at, scan.proof_at);
  }
  /// Scans the segment. The result must be the same if the segment is read in pieces.
  Scan scan() const {
    SegmentReader whole{ByteView(bytes_)};
    const auto at_once = scan_segment(whole, decoded_, [](const Frame&) {});
    sim::Disk disk(1);
    disk.put("s", bytes_);
    for (const std::size_t piece : {kHeaderBytes, std::size_t{100}, std::size_t{4'096}}) {
      SegmentReader pieces(disk, "s", piece);
      EXPECT_TRUE(pieces.open());
      const auto scan = scan_segment(pieces, decoded_, [](const Frame&) {});
      EXPECT_EQ(fields(*scan), fields(*at_once)) << piece;
    }
    return *at_once;
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  std::uint32_t seed() const { return decoded_.seed; }

 private:
  std::vector<std::byte> bytes_;
  DecodedHeader decoded_;
};

TEST(Scan, ReadsUpToTheZeros) {
  Bytes bytes;
  bytes.frame(FrameKind::record, 1, 0, "a");
  bytes.frame(FrameKind::mark, 1, 1);
  const std::size_t end = bytes.bytes().size();
  bytes.bytes().resize(end + 1000);
  const Scan scan = bytes.scan();
  EXPECT_EQ(scan.tail, Tail::clean);
  EXPECT_EQ(scan.end, end);
  EXPECT_EQ(scan.last, LogPosition{1});
  EXPECT_EQ(scan.durable, LogPosition{1});
  EXPECT_FALSE(scan.ended);
}

TEST(Scan, AFileThatIsShorterThanItWasAndHasNoEndWasCut) {
  const auto tail_of = [](std::uint32_t file_bytes, bool ended) {
    Bytes bytes(5, file_bytes);
    bytes.frame(FrameKind::record, 1, 0, "a");
    if (ended) bytes.frame(FrameKind::end, 1, 0);
    const Scan scan = bytes.scan();
    if (scan.tail == Tail::cut) {
      EXPECT_EQ(scan.damage_at, scan.end);
    }
    return scan.tail;
  };
  const std::uint32_t length = kHeaderBytes + frame_bytes(1);
  EXPECT_EQ(tail_of(length, false), Tail::clean);
  EXPECT_EQ(tail_of(length + 1, false), Tail::cut);
  EXPECT_EQ(tail_of(kSegmentBytesMax, false), Tail::cut);
  // A start rewrites the newest segment with an end frame, so its file may be shorter.
  EXPECT_EQ(tail_of(kSegmentBytesMax, true), Tail::clean);
}

TEST(Scan, ABadFrameBeforeOthersOfItsCommitWasCutOff) {
  Bytes bytes;
  bytes.frame(FrameKind::record, 1, 0, "a");
  const std::size_t bad = bytes.frame(FrameKind::record, 2, 1, "b");
  bytes.frame(FrameKind::record, 3, 1, "c");
  bytes.damage(bad + kFrameBytes);
  const Scan scan = bytes.scan();
  EXPECT_EQ(scan.tail, Tail::torn);
  EXPECT_EQ(scan.end, bad);
  EXPECT_EQ(scan.last, LogPosition{1});
}

TEST(Scan, ABadFrameThatALaterOneCallsDurableWasDamaged) {
  for (const FrameKind kind : {FrameKind::mark, FrameKind::record, FrameKind::end}) {
    Bytes bytes;
    bytes.frame(FrameKind::record, 1, 0, "a");
    const std::size_t bad = bytes.frame(FrameKind::record, 2, 1, "b");
    const std::size_t proof = bytes.frame(kind, kind == FrameKind::record ? 3 : 2, 2);
    bytes.damage(bad + 8);  // the frame's length: where the next frame begins is unknown
    const Scan scan = bytes.scan();
    EXPECT_EQ(scan.tail, Tail::damaged);
    EXPECT_EQ(scan.damage_at, bad);
    EXPECT_EQ(scan.proof_at, proof);
  }
}

TEST(Scan, FramesOutOfOrderAreDamage) {
  const auto tail_of = [](std::uint64_t position, std::uint64_t durable) {
    Bytes bytes;
    bytes.frame(FrameKind::record, 1, 0, "a");
    bytes.frame(FrameKind::mark, 1, 1);
    bytes.frame(FrameKind::record, position, durable, "b");
    return bytes.scan().tail;
  };
  EXPECT_EQ(tail_of(2, 1), Tail::clean);
  EXPECT_EQ(tail_of(1, 1), Tail::damaged);
  EXPECT_EQ(tail_of(3, 1), Tail::damaged);
  EXPECT_EQ(tail_of(2, 0), Tail::damaged);  // durable records stay durable
  EXPECT_EQ(tail_of(2, 2), Tail::damaged);  // a record is durable only after it is written
}

// Once a segment is not needed, it is never needed again. The oldest needed segment is not newer
// than the segment that names it.
TEST(Scan, TheOldestSegmentThatIsNeededOnlyRises) {
  const auto tail_of = [](std::uint64_t first, std::uint64_t second) {
    Bytes bytes(5, 0, 7);
    bytes.frame(FrameKind::record, 1, 0, "a", first);
    bytes.frame(FrameKind::mark, 1, 1, {}, second);
    return bytes.scan().tail;
  };
  EXPECT_EQ(tail_of(3, 3), Tail::clean);
  EXPECT_EQ(tail_of(3, 5), Tail::clean);
  EXPECT_EQ(tail_of(3, 7), Tail::clean) << "the segment itself";
  EXPECT_EQ(tail_of(3, 2), Tail::damaged);
  EXPECT_EQ(tail_of(3, 8), Tail::damaged);
}

TEST(Scan, NothingIsBehindTheEnd) {
  Bytes bytes;
  bytes.frame(FrameKind::end, 0, 0);
  EXPECT_EQ(bytes.scan().tail, Tail::clean);
  EXPECT_TRUE(bytes.scan().ended);
  const std::size_t behind = bytes.frame(FrameKind::mark, 0, 0);
  EXPECT_EQ(bytes.scan().tail, Tail::damaged);
  EXPECT_EQ(bytes.scan().damage_at, behind);
}

/// A segment may reuse the file of an earlier segment. Then frames of the earlier segment follow
/// the frames of the new one.
TEST(Scan, WhatAnEarlierSegmentLeftIsNothing) {
  for (const bool ended : {false, true}) {
    Bytes earlier(4);
    for (std::uint64_t i = 1; i < 20; ++i) earlier.frame(FrameKind::record, i, i - 1, "of old");
    Bytes bytes;
    bytes.frame(FrameKind::record, 1, 0, "a");
    bytes.frame(ended ? FrameKind::end : FrameKind::mark, 1, 1);
    const std::size_t end = bytes.bytes().size();
    const auto from = earlier.bytes().begin() + static_cast<std::ptrdiff_t>(end);
    bytes.bytes().insert(bytes.bytes().end(), from, earlier.bytes().end());
    const Scan scan = bytes.scan();
    EXPECT_EQ(scan.tail, Tail::clean);
    EXPECT_EQ(scan.end, end);
    EXPECT_EQ(scan.last, LogPosition{1});
    EXPECT_EQ(scan.ended, ended);
  }
}

/// An attacker who knew the seed could write a record that looks like the heads of a million
/// frames. The scan must not read each of these frames to its end.
TEST(Scan, RecordsFullOfHeadsAreNotReadForEver) {
  Bytes bytes;
  bytes.frame(FrameKind::record, 1, 0, "a");
  std::string heads(8 << 20, '\0');
  for (std::size_t at = 0; at + kFrameBytes <= heads.size(); at += kFrameBytes) {
    const ByteSpan head = std::as_writable_bytes(std::span<char>(heads)).subspan(at, kFrameBytes);
    store<std::uint32_t>(head.subspan(4), static_cast<std::uint32_t>(FrameKind::record));
    store<std::uint32_t>(head.subspan(8), 4 << 20);
    store<std::uint32_t>(head.subspan(12), bytes.seed());
    store<std::uint64_t>(head.subspan(24), 2);
  }
  const std::size_t bad = bytes.frame(FrameKind::record, 2, 1, heads);
  bytes.damage(bad);
  // It is unknown whether the bad frame was durable, so the scan does not cut it off.
  EXPECT_EQ(bytes.scan().tail, Tail::damaged);
  EXPECT_EQ(bytes.scan().damage_at, bad);
}

}  // namespace
}  // namespace peal::wal
