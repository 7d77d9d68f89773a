// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which mechanical mutant is active, in builds of tools/mutate only: it has the compiler put this
// before every file. The number comes from the environment variable PEAL_MUTATED, once, at start;
// none is active without it. PEAL_MUTATED_REACHED names a file that notes, in one byte for each
// mutant, whether its place was reached (1) and whether it makes a difference there (2). All
// processes that a test forks share it.

extern "C" {
extern int peal_mutated_active;
extern unsigned char* peal_mutated_reached;
}

/// A mutant that makes a difference wherever it is reached.
inline bool peal_mutated(int number) {
  peal_mutated_reached[number] = 3;
  return number == peal_mutated_active;
}

/// One that may make none: what follows says so.
inline bool peal_mutated_here(int number) {
  peal_mutated_reached[number] |= 1;
  return number == peal_mutated_active;
}

/// A side of && or || that makes a difference if it has this value.
inline bool peal_mutated_side(int number, bool decides, bool value) {
  if (value == decides) peal_mutated_reached[number] |= 2;
  return value;
}

/// A comparison, and its mutant's: the same but for operands that are equal.
inline bool peal_mutated_edge(int number, bool value, bool other) {
  const bool active = peal_mutated_here(number);
  if (value != other) peal_mutated_reached[number] |= 2;
  return active ? other : value;
}

template <class A, class B>
bool peal_mutated_less(int number, const A& a, const B& b) {
  return peal_mutated_edge(number, a < b, a <= b);
}
template <class A, class B>
bool peal_mutated_less_equal(int number, const A& a, const B& b) {
  return peal_mutated_edge(number, a <= b, a < b);
}
template <class A, class B>
bool peal_mutated_greater(int number, const A& a, const B& b) {
  return peal_mutated_edge(number, a > b, a >= b);
}
template <class A, class B>
bool peal_mutated_greater_equal(int number, const A& a, const B& b) {
  return peal_mutated_edge(number, a >= b, a > b);
}

#define PEAL_MUTATED(number) ::peal_mutated(number)
#define PEAL_MUTATED_HERE(number) ::peal_mutated_here(number)
