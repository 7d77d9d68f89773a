// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

// PEAL_ASSERT checks arguments, results and invariants of this process's own state, in every build.
// A process with an impossible state stops, and the other processes continue without it.
// PEAL_ASSERT never checks input from a peer or a client, because bad input is dropped and counted.

namespace peal {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "peal: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace peal

#define PEAL_ASSERT(condition)                       \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::peal::assertion_failed(#condition, __FILE__, __LINE__))

// PEAL_VERIFY is for costly checks. It is active only in the simulator and in debug builds.
#if defined(PEAL_SIM) || !defined(NDEBUG)
#define PEAL_VERIFY(condition) PEAL_ASSERT(condition)
#else
#define PEAL_VERIFY(condition) static_cast<void>(0)
#endif
