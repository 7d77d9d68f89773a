// SPDX-License-Identifier: Apache-2.0
// Opens a durable log in a folder that the fuzzer fills. The first byte of the input determines the
// meaning of the rest. The rest is the file of a segment, or frames that get valid checksums, or
// one change of a real log. A change affects four bytes or the length of a file.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "damage.h"

namespace peal::wal {
namespace {

std::string any_file(ByteView bytes) {
  sim::Disk disk(1);
  disk.put(segment_name(1), {bytes.begin(), bytes.end()});
  return test::judge_any(disk);
}

/// Makes a frame of every eight bytes. The bytes are: kind, length, position, durable position,
/// oldest position, size of the gap before the frame, whether the checksum is wrong, and the
/// content of the record.
std::string any_frames(ByteView bytes) {
  constexpr std::size_t kStep = 8;
  constexpr std::size_t kFileBytesMax = 4096;
  const SegmentHeader header{test::kOwner, 0, 1, 1, LogPosition{1}, 1, 99, 1};
  std::vector<std::byte> file(kHeaderBytes);
  const std::uint32_t seed = encode(header, file);
  for (; bytes.size() >= kStep && file.size() < kFileBytesMax; bytes = bytes.subspan(kStep)) {
    const auto field = [&bytes](std::size_t i) { return std::to_integer<std::uint64_t>(bytes[i]); };
    constexpr FrameKind kKinds[] = {FrameKind::record, FrameKind::mark, FrameKind::end};
    const FrameKind kind = kKinds[field(0) % 3];
    const std::size_t length = kind == FrameKind::end ? 0 : field(1);
    const std::size_t at = file.size() + field(5) % 4 * kAlign;
    file.resize(at + frame_bytes(length), bytes[7]);
    const Frame frame{kind, LogPosition{field(2)}, LogPosition{field(3)}, field(4), {}};
    seal_frame(ByteSpan(file).subspan(at), frame, length, seed);
    if (field(6) % 4 == 3) file[at] ^= std::byte{1};
  }
  return any_file(file);
}

/// Changes up to four adjacent bytes of a real log, or the length of one of its files. A checksum
/// detects each such change.
std::string one_change(ByteView bytes) {
  if (bytes.size() < 8) return {};
  sim::Disk disk(1);
  const bool closed = (bytes[0] & std::byte{1}) == std::byte{0};
  test::make_log(disk, closed ? test::Ending::closed : test::Ending::killed);
  const auto names = disk.names();
  const std::string& name = names[std::to_integer<std::size_t>(bytes[1]) % names.size()];
  const std::size_t size = disk.bytes_of(name).size();
  if ((bytes[0] & std::byte{2}) != std::byte{0}) {
    const std::size_t length = load<std::uint16_t>(bytes.subspan(2)) % size;
    const std::vector<std::byte> whole = disk.bytes_of(name);
    disk.put(name, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    return test::judge_damage(disk, name, length);
  }
  const std::size_t at = load<std::uint16_t>(bytes.subspan(2)) % (size / 4) * 4;
  for (std::size_t i = 0; i < 4; ++i) disk.flip(name, at + i, bytes[4 + i]);
  return test::judge_damage(disk, name, at + 3);
}

}  // namespace
}  // namespace peal::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const peal::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  if (bytes.empty()) return 0;
  const peal::ByteView rest = bytes.subspan(1);
  std::string wrong;
  switch (std::to_integer<unsigned>(bytes[0]) % 3) {
    case 0: wrong = peal::wal::any_file(rest); break;
    case 1: wrong = peal::wal::any_frames(rest); break;
    default: wrong = peal::wal::one_change(rest);
  }
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
