// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/text.h"
#include "peal/version.h"

namespace peal::cli {
namespace {

constexpr int kPatienceMs = 1'000;

}  // namespace

int fail(int status, std::string_view line) {
  std::string text = "peal: " + std::string(line);
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  text += '\n';
  // A reader of standard error that stopped reading must not delay the end of the process. The exit
  // status reports the failure as well.
  pollfd ready{STDERR_FILENO, POLLOUT, 0};
  std::string_view rest = text;
  while (!rest.empty() && ::poll(&ready, 1, kPatienceMs) > 0) {
    // After poll(), a write of up to PIPE_BUF bytes does not block.
    const std::string_view part = rest.substr(0, PIPE_BUF);
    const ssize_t put = ::write(STDERR_FILENO, part.data(), part.size());
    if (put <= 0 && errno != EINTR) break;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
  }
  return status;
}

std::string own_program() {
  std::array<char, 4'096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "peal";
}

int run_version() {
  std::puts("peal " PEAL_VERSION_TEXT);
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
