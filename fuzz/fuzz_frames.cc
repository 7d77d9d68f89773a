// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the input of a stream between nodes. The first byte of the input determines
// how many bytes are read at once. The frames must equal those that a simple reader of the same
// bytes finds.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "io/frame_reader.h"

namespace {

constexpr std::uint32_t kMost = 300;

std::uint32_t length_at(peal::ByteView bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < peal::io::kLengthBytes; ++i) {
    length |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  }
  return length;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using peal::io::FrameReader;
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0];
  peal::ByteView left = std::as_bytes(std::span(data + 1, size - 1));
  peal::ByteView expected = left;
  peal::BufferPool pool(4 * kMost, 4);
  FrameReader reader(pool, kMost);
  while (!left.empty()) {
    const peal::ByteSpan room = reader.room();
    PEAL_ASSERT(!room.empty());
    const std::size_t some = std::min({step, room.size(), left.size()});
    std::memcpy(room.data(), left.data(), some);
    reader.note(some);
    left = left.subspan(some);
    peal::BufferRef packet;
    FrameReader::Found found{};
    while ((found = reader.next(packet)) == FrameReader::Found::packet) {
      const std::uint32_t length = length_at(expected);
      PEAL_ASSERT(length >= 1 && length <= kMost && packet.size() == length);
      const peal::ByteView same = expected.subspan(peal::io::kLengthBytes, length);
      PEAL_ASSERT(std::equal(same.begin(), same.end(), packet.view().begin()));
      expected = expected.subspan(peal::io::kLengthBytes + length);
    }
    if (found == FrameReader::Found::bad_length) {
      const std::uint32_t length = length_at(expected);
      PEAL_ASSERT(length == 0 || length > kMost);
      return 0;
    }
  }
  return 0;
}
