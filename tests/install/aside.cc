// SPDX-License-Identifier: Apache-2.0
// This program does not use Peal, so it must be compiled with the options of its own project.
static_assert(__cplusplus == 201703L, "this target is compiled as C++17");
int main() { return 0; }
