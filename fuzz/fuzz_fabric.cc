// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as what two memories say to each other: as a hello, as an answer to one, and as
// the records of a frame. What is accepted is written again, to the same bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/assert.h"
#include "io/fabric/hello.h"
#include "io/fabric/records.h"
#include "io/fabric/verbs_ends.h"

namespace {

using peal::ByteSpan;
using peal::ByteView;

bool same(ByteView a, ByteView b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void read_hello(ByteView bytes) {
  const auto read = peal::io::fabric::decode_hello(bytes);
  if (!read.hello) return;
  std::array<std::byte, peal::io::fabric::kHelloBytes> again{};
  peal::io::fabric::encode_hello(*read.hello, again);
  PEAL_ASSERT(same(again, bytes));
}

void read_answer(ByteView bytes) {
  const auto read = peal::io::fabric::decode_answer(bytes);
  PEAL_ASSERT(!read.welcome || !read.refused);
  if (!read.welcome) return;
  std::array<std::byte, peal::io::fabric::kWelcomeBytes> again{};
  peal::io::fabric::encode_welcome(*read.welcome, again);
  PEAL_ASSERT(same(again, bytes));
}

/// What a record of verbs contains.
void read_ends(ByteView bytes) {
  if (const auto end = peal::io::fabric::decode_end(bytes)) {
    std::array<std::byte, peal::io::fabric::kVerbsEndBytes> again{};
    peal::io::fabric::encode_end(*end, again);
    PEAL_ASSERT(same(again, bytes));
  }
  if (const auto offer = peal::io::fabric::decode_offer(bytes)) {
    std::array<std::byte, peal::io::fabric::kVerbsOfferBytes> again{};
    peal::io::fabric::encode_offer(*offer, again);
    PEAL_ASSERT(same(again, bytes));
  }
}

void read_records(ByteView bytes) {
  peal::io::fabric::RecordReader reader(bytes);
  const std::unique_ptr<std::byte[]> again(new std::byte[bytes.size() + 1]);
  std::size_t used = 0;
  while (const auto record = reader.next()) {
    used +=
        peal::io::fabric::encode_record(*record, ByteSpan(again.get() + used, bytes.size() - used));
    PEAL_ASSERT(same({again.get(), used}, bytes.first(used)));
    read_ends(record->bytes);
  }
  PEAL_ASSERT(reader.failed() || used == bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A block of exactly its size, so that a read beyond it is noticed.
  const std::unique_ptr<std::byte[]> block(new std::byte[size - 1]);
  if (size > 1) std::memcpy(block.get(), data + 1, size - 1);
  const ByteView bytes(block.get(), size - 1);
  switch (data[0] % 3) {
    case 0: read_hello(bytes); break;
    case 1: read_answer(bytes); break;
    default: read_records(bytes); break;
  }
  return 0;
}
