// SPDX-License-Identifier: Apache-2.0
// wire_seeds FOLDER: writes the seeds of fuzz_wire: the golden packets, and a few random valid
// frames of each kind. Run it from the top of the source tree.
#include <string>
#include <vector>

#include "golden.h"
#include "order/toto/commit_record.h"
#include "paxos_samples.h"
#include "ramcast_samples.h"
#include "samples.h"
#include "seeds.h"
#include "toto_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using fuzz::Folder;

constexpr std::size_t kSeedBytesMax = 2'048;  // larger packets slow the fuzzer down
constexpr int kSeedsPerKind = 4;

/// Writes kSeedsPerKind packets that `next` returns. Skips large packets, and packets of the same
/// size as the one written before.
template <class Next>
bool write_some(Folder& folder, const std::string& kind, Next next) {
  Random random(1);
  std::size_t size_before = 0;
  for (int written = 0, tried = 0; written < kSeedsPerKind && tried < 10'000; ++tried) {
    const std::vector<std::byte> packet = next(random);
    if (packet.empty() || packet.size() > kSeedBytesMax || packet.size() == size_before) continue;
    size_before = packet.size();
    if (!folder.write("random-" + kind + "-" + std::to_string(++written), packet)) return false;
  }
  return true;
}

template <class Make, class Encode>
bool write_random(Folder& folder, const std::string& kind, Make make, Encode encode) {
  return write_some(folder, kind, [&](Random& random) {
    std::vector<std::byte> packet(kSeedBytesMax);
    packet.resize(encode(header_of(FrameKind{}), make(random), ByteSpan(packet)));
    return packet;
  });
}

bool write_all(Folder folder) {
  for (const std::string& name : golden_names()) {
    if (!folder.write(name, load_golden(name).bytes)) return false;
  }
  return write_random(folder, "token", random_token, encode_token) &&
         write_random(folder, "join", random_join, encode_join) &&
         write_random(folder, "commit", random_commit, encode_commit) &&
         write_random(folder, "probe", random_probe, encode_probe) &&
         write_random(folder, "trial", random_trial, encode_trial) &&
         write_random(folder, "settings", random_settings, encode_settings) &&
         write_random(folder, "promise", random_promise, encode_promise) &&
         write_random(folder, "checkpoint", random_checkpoint, encode_checkpoint) &&
         write_some(folder, "value",
                    [](Random& random) { return packet_of(random_value(random)); }) &&
         write_some(folder, "fetched",
                    [](Random& random) { return packet_of(random_fetched(random)); }) &&
         write_some(folder, "word",
                    [](Random& random) { return packet_of(random_word(random)); }) &&
         write_some(folder, "relay",
                    [](Random& random) { return packet_of(random_relay(random)); }) &&
         write_some(folder, "node",
                    [](Random& random) { return packet_of(random_node(random)); }) &&
         write_random(folder, "ramcast-hello", random_hello, encode_memory_hello) &&
         write_random(folder, "ramcast-takeover", random_takeover, encode_takeover) &&
         write_random(folder, "ramcast-state", random_member_state, encode_member_state) &&
         write_random(folder, "ramcast-nack", random_nack, encode_nack) &&
         write_random(folder, "toto-lacks", random_toto_lacks, encode_toto_lacks) &&
         write_random(folder, "toto-status", random_toto_status, encode_toto_status) &&
         write_random(folder, "toto-commit", random_toto_commit, order::toto::encode_commit);
}

}  // namespace

int write_seeds(int count, char** arguments) {
  return fuzz::seeds_main("wire_seeds", count, arguments, write_all);
}

}  // namespace peal::wire::test

int main(int count, char** arguments) { return peal::wire::test::write_seeds(count, arguments); }
