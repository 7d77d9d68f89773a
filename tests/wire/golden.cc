// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace peal::wire::test {
namespace {

const std::filesystem::path kFolder = "tests/data/wire";

[[noreturn]] void give_up(const std::string& name, const std::string& why) {
  std::fprintf(stderr, "golden packet %s: %s (run from the top of the source tree)\n", name.c_str(),
               why.c_str());
  std::exit(1);
}

}  // namespace

Golden load_golden(const std::string& name) {
  Golden golden{name, {}, {}};
  std::ifstream file(kFolder / (name + ".hex"));
  if (!file) give_up(name, "cannot be read");
  for (std::string line; std::getline(file, line);) {
    const std::size_t mark = line.find('#');
    if (mark == 0) continue;
    if (mark == std::string::npos) give_up(name, "a line without a field name: " + line);
    std::istringstream digits(line.substr(0, mark));
    const std::size_t offset = golden.bytes.size();
    for (std::string pair; digits >> pair;) {
      char* end = nullptr;
      const unsigned long value = std::strtoul(pair.c_str(), &end, 16);
      if (pair.size() != 2 || *end != '\0') give_up(name, "not a byte: " + pair);
      golden.bytes.push_back(static_cast<std::byte>(value));
    }
    golden.fields.push_back({line.substr(mark + 2), offset, golden.bytes.size() - offset});
  }
  if (golden.bytes.empty()) give_up(name, "is empty");
  return golden;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    if (entry.path().extension() == ".hex") names.push_back(entry.path().stem().string());
  }
  if (names.empty()) give_up("*", "none found");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace peal::wire::test
