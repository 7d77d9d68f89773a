// SPDX-License-Identifier: Apache-2.0
#pragma once

// Selects the active mechanical mutant, in builds of tools/mutate only. In these builds, the
// compiler includes this header before every source file. At its start, a program reads the number
// of the active mutant from the environment variable PEAL_MUTATED; without the variable, no mutant
// is active. PEAL_MUTATED_REACHED names a file with one byte for each mutant. The byte says whether
// the mutant's place was reached (1) and whether the mutant made a difference there (2). All
// processes that a test forks share the file.

extern "C" {
extern int peal_mutated_active;
extern unsigned char* peal_mutated_reached;
}

/// Called at the place of a mutant that makes a difference whenever its place is reached.
inline bool peal_mutated(int number) {
  peal_mutated_reached[number] = 3;
  return number == peal_mutated_active;
}

/// Called at the place of a mutant that may make no difference. peal_mutated_side() or
/// peal_mutated_edge() then notes whether it makes one.
inline bool peal_mutated_here(int number) {
  peal_mutated_reached[number] |= 1;
  return number == peal_mutated_active;
}

/// Evaluates one side of && or ||. If `value` equals `decides`, dropping this side makes a
/// difference.
inline bool peal_mutated_side(int number, bool decides, bool value) {
  if (value == decides) peal_mutated_reached[number] |= 2;
  return value;
}

/// Evaluates a comparison (`value`) and its mutant (`other`), which differ only if the operands are
/// equal.
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
