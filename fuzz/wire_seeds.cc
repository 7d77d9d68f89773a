// SPDX-License-Identifier: Apache-2.0
// wire_seeds FOLDER: writes the golden packets and a few random legal frames of each kind as files
// that fuzz_wire starts from. Run from the top of the source tree.
#include <string>
#include <vector>

#include "golden.h"
#include "samples.h"
#include "seeds.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using fuzz::Folder;

constexpr std::size_t kSeedBytesMax = 2'048;  // larger ones slow the fuzzer down
constexpr int kSeedsPerKind = 4;

/// Random frames of one kind that are small enough, and differ in size.
template <class Make, class Encode>
bool write_random(Folder& folder, const std::string& kind, Make make, Encode encode) {
  Random random(1);
  std::size_t size_before = 0;
  for (int written = 0, tried = 0; written < kSeedsPerKind && tried < 10'000; ++tried) {
    std::vector<std::byte> packet(kSeedBytesMax);
    packet.resize(encode(header_of({}), make(random), ByteSpan(packet)));
    if (packet.empty() || packet.size() == size_before) continue;
    size_before = packet.size();
    if (!folder.write("random-" + kind + "-" + std::to_string(++written), packet)) return false;
  }
  return true;
}

bool write_all(Folder folder) {
  for (const std::string& name : golden_names()) {
    if (!folder.write(name, load_golden(name).bytes)) return false;
  }
  return write_random(folder, "token", random_token, encode_token) &&
         write_random(folder, "join", random_join, encode_join) &&
         write_random(folder, "commit", random_commit, encode_commit) &&
         write_random(folder, "probe", random_probe, encode_probe);
}

}  // namespace

int write_seeds(int count, char** arguments) {
  return fuzz::seeds_main("wire_seeds", count, arguments, write_all);
}

}  // namespace peal::wire::test

int main(int count, char** arguments) { return peal::wire::test::write_seeds(count, arguments); }
