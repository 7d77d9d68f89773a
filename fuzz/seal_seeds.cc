// SPDX-License-Identifier: Apache-2.0
// seal_seeds FOLDER: writes the seeds of fuzz_seal. Each sample is written whole and shortened; two
// samples are also damaged in each field of their headers.
#include <string>

#include "examine.h"
#include "seeds.h"

int main(int count, char** arguments) {
  namespace test = peal::seal::test;
  return peal::fuzz::seeds_main("seal_seeds", count, arguments, [](peal::fuzz::Folder folder) {
    for (std::size_t i = 0; i < test::samples().size(); ++i) {
      const test::Sample& sample = test::samples()[i];
      test::Bytes whole = sample.packet;
      whole.insert(whole.begin(), std::byte{0});
      const auto number = static_cast<std::byte>(i);
      const test::Bytes shorter = {std::byte{1}, number, std::byte{0xff}};
      if (!folder.write(sample.name, whole) || !folder.write(sample.name + "-shorter", shorter)) {
        return false;
      }
    }
    const auto damaged_at = [&](std::size_t sample, unsigned at) {
      const test::Bytes damaged = {std::byte{1}, static_cast<std::byte>(sample),
                                   std::byte{0}, static_cast<std::byte>(at),
                                   std::byte{0}, std::byte{1}};
      return folder.write(test::samples()[sample].name + "-damaged-at-" + std::to_string(at),
                          damaged);
    };
    // Offsets in a sealed token: version, lane, from, to, key, counter, incarnation tag, epoch,
    // salt.
    for (const unsigned at : {2U, 3U, 4U, 6U, 8U, 12U, 18U, 26U, 34U}) {
      if (!damaged_at(0, at)) return false;
    }
    // Offsets in a sealed data packet: form, from, incarnation tag, counter, configuration hash.
    for (const unsigned at : {0U, 1U, 3U, 7U, 13U}) {
      if (!damaged_at(2, at)) return false;
    }
    return true;
  });
}
