// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which mechanical mutant is active, in builds of tools/mutate only: it has the compiler put this
// before every file. The number comes from the environment variable PEAL_MUTATED, once, at start;
// none is active without it. PEAL_MUTATED_REACHED names a file that notes which mutants were asked
// for: one byte each, shared by all processes that a test forks.

extern "C" {
extern int peal_mutated_active;
extern unsigned char* peal_mutated_reached;
}

inline bool peal_mutated(int number) {
  peal_mutated_reached[number] = 1;
  return number == peal_mutated_active;
}

#define PEAL_MUTATED(number) ::peal_mutated(number)
