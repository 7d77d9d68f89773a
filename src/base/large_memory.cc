// SPDX-License-Identifier: Apache-2.0
#include "base/large_memory.h"

#include <sys/mman.h>

#include <new>

#include "base/result.h"

namespace peal {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

LargeMemory::LargeMemory(std::size_t bytes, Pages pages) : bytes_(take(bytes, pages)) {}

LargeMemory::Bytes LargeMemory::take(std::size_t bytes, Pages pages) {
  // For less memory than one large page, the larger alignment would only cost memory.
  const bool large = pages == Pages::large && bytes >= kLargePage;
  const std::size_t alignment = large ? kLargePage : kAlignment;
  auto* const memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment}));
  if (large) {
    ignore(::madvise(memory, bytes, MADV_HUGEPAGE), "a system without them does as well");
    for (std::size_t at = 0; at < bytes; at += kAlignment) memory[at] = {};
  }
  return {memory, Free{alignment}};
}

void LargeMemory::Free::operator()(std::byte* bytes) const {
  ::operator delete (bytes, std::align_val_t{alignment});
}

}  // namespace peal
