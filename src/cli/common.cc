// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/text.h"

namespace peal::cli {

int fail(int status, std::string_view line) {
  std::string text = "peal: " + std::string(line);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "%s\n", text.c_str());
  return status;
}

std::string own_program() {
  std::array<char, 4'096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "peal";
}

int run_version() {
  std::printf("peal %s\n", PEAL_VERSION);
  return 0;
}

int run_sim(const SimCommand& command) {
  const std::string self = own_program();
  const std::string program = self.substr(0, self.rfind('/') + 1) + "peal-sim";
  std::vector<char*> arguments = {const_cast<char*>("peal sim")};
  for (const std::string& text : command.arguments) {
    arguments.push_back(const_cast<char*>(text.c_str()));
  }
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return fail(1, "sim: cannot run " + quote(program) + " (" + std::strerror(errno) +
                     "): the simulator is a program of its own, peal-sim, that must lie beside "
                     "peal");
}

}  // namespace peal::cli
