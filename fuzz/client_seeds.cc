// SPDX-License-Identifier: Apache-2.0
// client_seeds FOLDER: writes one record of each kind and form as a seed file of fuzz_client.
#include <algorithm>
#include <cctype>

#include "client_samples.h"
#include "seeds.h"

int main(int count, char** arguments) {
  return peal::fuzz::seeds_main("client_seeds", count, arguments, [](peal::fuzz::Folder folder) {
    for (auto sample : peal::wire::test::client_samples()) {
      std::replace_if(
          sample.name.begin(), sample.name.end(),
          [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
      if (!folder.write(sample.name, sample.bytes)) return false;
    }
    return true;
  });
}
