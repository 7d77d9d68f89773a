// SPDX-License-Identifier: Apache-2.0
// Common parts of the programs that write seeds.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace peal::fuzz {

/// The folder for seeds; each seed is one file.
class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
  bool write(const std::string& name, const std::vector<std::byte>& bytes) {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return file.good();
  }

 private:
  std::filesystem::path path_;
};

/// The main function of a program that writes seeds. `write_all` gets the folder, and returns true
/// if all seeds were written.
template <class WriteAll>
int seeds_main(const char* program, int count, char** arguments, WriteAll write_all) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", program);
    return 2;
  }
  if (!write_all(Folder(arguments[1]))) {
    std::fprintf(stderr, "%s: cannot write to %s\n", program, arguments[1]);
    return 1;
  }
  return 0;
}

}  // namespace peal::fuzz
