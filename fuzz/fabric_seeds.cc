// SPDX-License-Identifier: Apache-2.0
// fabric_seeds FOLDER: writes the seeds of fuzz_fabric: both sides' parts of a handshake, the
// records of each side, and frames for a channel.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "io/fabric/hello.h"
#include "io/fabric/records.h"
#include "io/fabric/verbs_ends.h"
#include "seeds.h"

namespace peal::io::fabric {
namespace {

using Bytes = std::vector<std::byte>;
using What = Record::Kind;

/// What the first byte of an input chooses.
constexpr std::byte kHelloInput{0}, kAnswerInput{1}, kRecordsInput{2}, kFramesInput{3},
    kSealedInput{4};

Bytes with_choice(std::byte choice, ByteView rest) {
  Bytes input{choice};
  input.insert(input.end(), rest.begin(), rest.end());
  return input;
}

Bytes input_of(std::byte choice, const std::vector<unsigned>& rest) {
  Bytes input{choice};
  for (const unsigned value : rest) input.push_back(static_cast<std::byte>(value));
  return input;
}

Fresh ascending() {
  Fresh fresh{};
  for (std::size_t i = 0; i < fresh.size(); ++i) fresh[i] = static_cast<std::byte>(i);
  return fresh;
}

Bytes hello_of(Kind fabric) {
  const Hello hello{.fabric = fabric,
                    .key = 7,
                    .sealed = true,
                    .cluster = 9,
                    .writer = {NodeId{2}, 55},
                    .owner = NodeId{1},
                    .fresh = ascending()};
  Bytes bytes(kHelloBytes);
  encode_hello(hello, bytes);
  return with_choice(kHelloInput, bytes);
}

Bytes welcome() {
  Bytes bytes(kWelcomeBytes);
  encode_welcome({{NodeId{1}, 77}, ascending()}, bytes);
  return with_choice(kAnswerInput, bytes);
}

Bytes refused() {
  Bytes bytes(kRefusedBytes);
  encode_refused(Refusal::unknown_key, bytes);
  return with_choice(kAnswerInput, bytes);
}

Bytes records_of(const std::vector<Record>& records) {
  Bytes bytes(1'024);
  std::size_t used = 0;
  for (const Record& each : records) used += encode_record(each, ByteSpan(bytes).subspan(used));
  return with_choice(kRecordsInput, ByteView(bytes).first(used));
}

Record record_of(What kind, std::uint8_t number = 0, std::uint64_t epoch = 0,
                 std::uint32_t count = 0) {
  Record record;
  record.kind = kind;
  record.number = number;
  record.epoch = epoch;
  record.count = count;
  return record;
}

Record part_of_write(ByteView bytes, bool last) {
  Record record = record_of(What::write, 4, 7);
  record.value = 64;
  record.last = last;
  record.bytes = bytes;
  return record;
}

Bytes owner_records() {
  Record exposed = record_of(What::expose, 4, 7);
  exposed.value = 1'024;
  Record denied = record_of(What::answer, 0, 0, 1);
  denied.end = port::WriteEnd::denied;
  return records_of({record_of(What::ready), record_of(What::answer, 0, 0, 5), denied, exposed,
                     record_of(What::withdraw, 4, 7), record_of(What::unknown, 4, 9, 3)});
}

Bytes writer_records() {
  const Bytes first(20, std::byte{'x'}), second(1, std::byte{'y'});
  return records_of({record_of(What::ready), part_of_write(first, true),
                     part_of_write(second, false), record_of(What::ask, 4, 9, 3),
                     record_of(What::wake)});
}

Bytes cut_record() {
  const Bytes content(20, std::byte{'x'});
  Bytes bytes = records_of({part_of_write(content, true)});
  bytes.pop_back();
  return bytes;
}

Bytes verbs_records() {
  const VerbsEnd end{.pair = 0x11, .first_packet = 0x123456, .lid = 0, .mtu = 3};
  Bytes end_bytes(kVerbsEndBytes), offer_bytes(kVerbsOfferBytes);
  encode_end(end, end_bytes);
  encode_offer({.address = 0x7f0000001040,
                .bell_address = 0x7f0000002000,
                .key = 0x1234,
                .bell_key = 0x1235,
                .end = end},
               offer_bytes);
  Record offer = record_of(What::offer, 5, 7);
  offer.value = 4'096;
  offer.bytes = offer_bytes;
  Record join = record_of(What::join, 5, 7);
  join.bytes = end_bytes;
  return records_of({offer, record_of(What::joined, 5, 7), join, record_of(What::withdraw, 5, 7)});
}

}  // namespace

bool write_fabric_seeds(fuzz::Folder folder) {
  // Three bytes at once; frames of 2 and 1 bytes; one that is too long.
  const Bytes frames = input_of(
      kFramesInput, {2, 2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 'c', 0xff, 0xff, 0, 0, 'd', 'e'});
  // Nine bytes at once, the place of the damage (2 bytes) and the damage; then frames by length.
  const std::vector<unsigned> whole{8, 0,   0, 0,   2,   'a', 'b', 'c',
                                    0, 'd', 4, 'e', 'f', 'g', 'h', 'i'};
  const auto damaged_at = [&whole](unsigned at) {
    std::vector<unsigned> input = whole;
    input[1] = at;
    input[3] = 1;
    return input_of(kSealedInput, input);
  };
  // The first frame has 4 bytes of length, 3 of text and 16 of tag.
  return folder.write("empty", {}) && folder.write("hello", hello_of(Kind::shm)) &&
         folder.write("hello_verbs", hello_of(Kind::verbs)) && folder.write("welcome", welcome()) &&
         folder.write("refused", refused()) && folder.write("owner", owner_records()) &&
         folder.write("writer", writer_records()) && folder.write("cut", cut_record()) &&
         folder.write("verbs", verbs_records()) && folder.write("frames", frames) &&
         folder.write("sealed", input_of(kSealedInput, whole)) &&
         folder.write("sealed_length", damaged_at(23)) &&
         folder.write("sealed_text", damaged_at(5)) && folder.write("sealed_tag", damaged_at(30));
}

}  // namespace peal::io::fabric

int main(int count, char** arguments) {
  return peal::fuzz::seeds_main("fabric_seeds", count, arguments,
                                peal::io::fabric::write_fabric_seeds);
}
