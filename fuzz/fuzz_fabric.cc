// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as what two memories say to each other: as a hello, as an answer to one, and as
// the records of a frame. What is accepted is written again, to the same bytes. A channel reads any
// bytes as a stream of frames, which must be those that a simple reader finds; and sealed frames of
// another channel, of which the input may change one byte: then the channel returns all frames in
// front of it, and no other.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "io/fabric/channel.h"
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

// ---- frames ----

using Bytes = std::vector<std::byte>;
using peal::io::Transfer;
using peal::io::fabric::Channel;
using Outcome = peal::io::StreamOutcome;

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kFrameBytesMax = 300;

/// A stream without a descriptor: it returns `arrived`, at most `step` bytes at once, and keeps
/// what is written.
class MemoryStream final : public peal::io::Stream {
 public:
  MemoryStream(ByteView arrived, std::size_t step)
      : Stream(peal::io::Fd(), {}), arrived_(arrived), step_(step) {}
  const Bytes& written() const { return written_; }

  Outcome advance() override { return Outcome::ok; }
  Transfer read(ByteSpan into) override {
    if (arrived_.empty()) return {0, Outcome::end};
    const std::size_t bytes = std::min({step_, into.size(), arrived_.size()});
    std::copy_n(arrived_.begin(), bytes, into.begin());
    arrived_ = arrived_.subspan(bytes);
    return {bytes, Outcome::ok};
  }
  Transfer write(std::span<const ByteView> chunks) override {
    Transfer put;
    for (const ByteView chunk : chunks) {
      written_.insert(written_.end(), chunk.begin(), chunk.end());
      put.bytes += chunk.size();
    }
    return put;
  }
  Outcome flush() override { return Outcome::ok; }
  Outcome finish_writing() override { return Outcome::ok; }
  bool has_handshake() const override { return false; }
  short waits_for() const override { return 0; }
  bool has_unsent() const override { return false; }

 private:
  ByteView arrived_;
  std::size_t step_;
  Bytes written_;
};

/// Reads to the end, or to the first bad input. `take` gets each frame.
template <class Take>
void read_all(Channel& channel, Take take) {
  while (!channel.is_broken()) {
    channel.read();
    while (const auto frame = channel.next()) take(*frame);
  }
}

void read_frames(ByteView bytes, std::size_t step) {
  Channel channel(std::make_unique<MemoryStream>(bytes, step), peal::io::fabric::Kind::tcp,
                  kFrameBytesMax);
  ByteView left = bytes;
  read_all(channel, [&left](ByteView frame) {
    PEAL_ASSERT(!frame.empty() && frame.size() <= kFrameBytesMax);
    PEAL_ASSERT(left.size() >= kLengthBytes + frame.size());
    PEAL_ASSERT(peal::load<std::uint32_t>(left) == frame.size());
    PEAL_ASSERT(same(frame, left.subspan(kLengthBytes, frame.size())));
    left = left.subspan(kLengthBytes + frame.size());
  });
  const std::size_t length = left.size() < kLengthBytes ? 1 : peal::load<std::uint32_t>(left);
  PEAL_ASSERT(channel.has_bad_input() == (length == 0 || length > kFrameBytesMax));
  PEAL_ASSERT(channel.has_bad_input() || left.size() < kLengthBytes + length);
}

const peal::seal::ChannelSecrets& secrets() {
  static const peal::seal::ChannelSecrets both = [] {
    peal::seal::ChannelSecrets out;
    out.from_caller.bytes.fill(std::byte{1});
    out.to_caller.bytes.fill(std::byte{2});
    return out;
  }();
  return both;
}

/// `bytes`: for each frame its length without 1, and its content.
std::vector<ByteView> cut_up(ByteView bytes) {
  std::vector<ByteView> frames;
  while (bytes.size() > 1) {
    const std::size_t wanted = 1 + std::to_integer<std::size_t>(bytes[0]);
    frames.push_back(bytes.subspan(1, std::min(wanted, bytes.size() - 1)));
    bytes = bytes.subspan(1 + frames.back().size());
  }
  return frames;
}

/// The frames as a channel sends them.
Bytes sealed(const std::vector<ByteView>& frames) {
  auto owned = std::make_unique<MemoryStream>(ByteView(), 1);
  const MemoryStream& stream = *owned;
  Channel channel(std::move(owned), peal::io::fabric::Kind::tcp, kFrameBytesMax);
  channel.use(secrets(), Channel::Side::caller);
  for (const ByteView frame : frames) {
    std::copy(frame.begin(), frame.end(), channel.begin_frame(frame.size()).begin());
    channel.end_frame(frame.size());
  }
  channel.write();
  PEAL_ASSERT(channel.unsent() == 0 && !channel.is_broken());
  return stream.written();
}

/// `input`: where a byte is changed (2 bytes), the bits of the change, and the frames.
void read_sealed_frames(ByteView input, std::size_t step) {
  if (input.size() < 3) return;
  const std::vector<ByteView> frames = cut_up(input.subspan(3));
  Bytes stream = sealed(frames);
  if (stream.empty()) return;
  const std::size_t at = peal::load<std::uint16_t>(input) % stream.size();
  stream[at] ^= input[2];
  std::size_t expected = 0;  // frames in front of the change
  for (std::size_t end = 0; expected < frames.size(); ++expected) {
    end += kLengthBytes + frames[expected].size() + peal::seal::kTagBytes;
    if (input[2] != std::byte{0} && at < end) break;
  }
  Channel channel(std::make_unique<MemoryStream>(stream, step), peal::io::fabric::Kind::tcp,
                  kFrameBytesMax);
  channel.use(secrets(), Channel::Side::callee);
  std::size_t taken = 0;
  read_all(channel, [&](ByteView frame) {
    PEAL_ASSERT(taken < expected && same(frame, frames[taken]));
    ++taken;
  });
  PEAL_ASSERT(taken == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A block of exactly its size, so that a read beyond it is noticed.
  const std::unique_ptr<std::byte[]> block(new std::byte[size - 1]);
  if (size > 1) std::memcpy(block.get(), data + 1, size - 1);
  const ByteView bytes(block.get(), size - 1);
  switch (data[0] % 5) {
    case 0: read_hello(bytes); return 0;
    case 1: read_answer(bytes); return 0;
    case 2: read_records(bytes); return 0;
    default: break;
  }
  if (bytes.empty()) return 0;
  const std::size_t step = 1 + std::to_integer<std::size_t>(bytes[0]);
  if (data[0] % 5 == 3) {
    read_frames(bytes.subspan(1), step);
  } else {
    read_sealed_frames(bytes.subspan(1), step);
  }
  return 0;
}
