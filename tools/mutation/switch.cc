// SPDX-License-Identifier: Apache-2.0
// Linked into every program that tools/mutate builds; see switch.h in this folder.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t kNumbers = 1 << 16;
unsigned char not_asked_for[kNumbers];

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::_Exit(3);
}

// Runs before all other constructors, so that mutants in them are active too. The variables that
// begin() sets have constant initial values, so they are initialized before.
__attribute__((constructor(101))) void begin() {
  if (const char* number = std::getenv("PEAL_MUTATED")) peal_mutated_active = std::atoi(number);
  const char* path = std::getenv("PEAL_MUTATED_REACHED");
  if (path == nullptr) return;
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ::ftruncate(file, kNumbers) != 0) fail(path);
  void* memory = ::mmap(nullptr, kNumbers, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail(path);
  ::close(file);
  peal_mutated_reached = static_cast<unsigned char*>(memory);
}

}  // namespace

int peal_mutated_active = 0;
unsigned char* peal_mutated_reached = not_asked_for;
