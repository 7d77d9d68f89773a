// SPDX-License-Identifier: Apache-2.0
// group_seeds FOLDER: writes one message of each kind and shape as a file that fuzz_group starts
// from.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "samples.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: group_seeds FOLDER\n");
    return 2;
  }
  for (auto sample : peal::group::test::samples()) {
    std::replace_if(
        sample.name.begin(), sample.name.end(),
        [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
    const auto path = std::filesystem::path(arguments[1]) / sample.name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(sample.bytes.data()),
               static_cast<std::streamsize>(sample.bytes.size()));
    if (!file.good()) {
      std::fprintf(stderr, "group_seeds: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}
