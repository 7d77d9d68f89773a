// SPDX-License-Identifier: Apache-2.0
// The mutant of the codecs ignores wrong checksums, but only while it is active.
#include <gtest/gtest.h>

#include <vector>

#include "base/hooks.h"
#include "paxos_samples.h"
#include "samples.h"

namespace peal::wire::test {
namespace {

using sim_hooks::Mutant;

TEST(WireMutant, ChecksumIgnoredAcceptsDamageOfTheUnit) {
  std::vector<std::byte> packet(kDataHeaderBytes + 10);
  encode_data_in_place(header_of(FrameKind::data), plain_data(), packet);
  packet.back() ^= std::byte{1};
  Header header;
  EXPECT_EQ(drop_name(decode_header(packet, header)), "bad_checksum");
  sim_hooks::activate_mutant(Mutant::checksum_ignored);
  EXPECT_EQ(drop_name(decode_header(packet, header)), "none");
  packet.push_back(std::byte{0});
  EXPECT_EQ(drop_name(decode_header(packet, header)), "bad_length");
  packet.pop_back();
  sim_hooks::activate_mutant(Mutant::none);
  EXPECT_EQ(drop_name(decode_header(packet, header)), "bad_checksum");
}

TEST(WireMutant, ChecksumIgnoredAcceptsDamageOfAProposal) {
  std::vector<std::byte> packet = packet_of(plain_propose());
  packet.back() ^= std::byte{1};
  Header header;
  EXPECT_EQ(drop_name(decode_header(packet, header)), "bad_checksum");
  sim_hooks::activate_mutant(Mutant::checksum_ignored);
  EXPECT_EQ(drop_name(decode_header(packet, header)), "none");
  sim_hooks::activate_mutant(Mutant::none);
  EXPECT_EQ(drop_name(decode_header(packet, header)), "bad_checksum");
}

}  // namespace
}  // namespace peal::wire::test
