// SPDX-License-Identifier: Apache-2.0
// group_seeds FOLDER: writes one message of each kind and form as a seed file of fuzz_group.
#include <algorithm>
#include <cctype>

#include "samples.h"
#include "seeds.h"

int main(int count, char** arguments) {
  return peal::fuzz::seeds_main("group_seeds", count, arguments, [](peal::fuzz::Folder folder) {
    for (auto sample : peal::group::test::samples()) {
      std::replace_if(
          sample.name.begin(), sample.name.end(),
          [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
      if (!folder.write(sample.name, sample.bytes)) return false;
    }
    return true;
  });
}
