// SPDX-License-Identifier: Apache-2.0
#include "examine.h"

#include <algorithm>

namespace peal::seal::test {
namespace {

constexpr std::uint32_t kMark = 0x5eed'0042;

std::vector<Sample> make_samples() {
  Sealer three = sealer(incarnation(3, 7, 0x40));
  three.set_mark(kMark);
  std::vector<Sample> all;
  const auto add = [&](std::string name, Lane lane, std::size_t bytes, std::uint32_t to) {
    const std::string plain(bytes, 'x');
    all.push_back({std::move(name), plain, sealed(three, lane, plain, to)});
  };
  add("token", Lane::token, 100, 9);
  add("control", Lane::control, 40, 0);
  add("data", Lane::data, 300, 0);
  add("data-empty", Lane::data, 0, 0);
  add("token-empty", Lane::token, 0, 9);
  return all;
}

/// Opens `packet`. Its block has exactly its size, so that a sanitizer detects a read behind it.
Verdict try_packet(Bytes packet) {
  Opener receiver = opener();
  const auto sample = std::find_if(samples().begin(), samples().end(),
                                   [&](const Sample& each) { return each.packet == packet; });
  const bool real = sample != samples().end();
  if (real && packet.at(0) == std::byte{kDataForm}) {
    Bytes introduction = samples().front().packet;
    if (receiver.open(introduction).reason != Refusal::none) return {{}, "a token was refused"};
  }
  Bytes again = packet;
  const std::size_t size = packet.size();
  const Opened opened = receiver.open(packet);
  Verdict verdict{opened.reason, nullptr};
  if (opened.reason != Refusal::none) {
    if (real) verdict.wrong = "a real packet was refused";
    if (!opened.plain.empty()) verdict.wrong = "refused, and yet there is something to read";
    return verdict;
  }
  if (!real) {
    verdict.wrong = "opened what was not sealed";
  } else if (as_text(opened.plain) != sample->plain || opened.plain.size() > size) {
    verdict.wrong = "opened to other bytes";
  } else if (opened.lane == Lane::data && opened.mark != kMark) {
    verdict.wrong = "opened with another mark";
  } else if (opened.sender != MemberId{{3}, 7}) {
    verdict.wrong = "opened as somebody else's";
  } else if (receiver.open(again).reason != Refusal::replayed) {
    verdict.wrong = "opened twice";
  }
  return verdict;
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

Verdict examine(ByteView input) {
  if (input.empty()) return try_packet({});
  const bool as_it_is = (input[0] & std::byte{1}) == std::byte{0};
  ByteView rest = input.subspan(1);
  if (as_it_is) return try_packet({rest.begin(), rest.end()});
  if (rest.size() < 2) return try_packet({});
  Bytes packet = samples()[load<std::uint8_t>(rest) % samples().size()].packet;
  const auto longer = static_cast<std::int8_t>(load<std::uint8_t>(rest.subspan(1)));
  const auto size = static_cast<std::ptrdiff_t>(packet.size()) + longer;
  packet.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(size, 0)));
  for (rest = rest.subspan(2); rest.size() >= 3 && !packet.empty(); rest = rest.subspan(3)) {
    packet[load<std::uint16_t>(rest) % packet.size()] ^= rest[2];
  }
  packet.shrink_to_fit();
  return try_packet(std::move(packet));
}

}  // namespace peal::seal::test
