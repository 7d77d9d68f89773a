// SPDX-License-Identifier: Apache-2.0
#pragma once

// The version of these headers, for C and C++. Only this file defines the version: CMake, the
// programs, peal.pc and the Python wheel read this file.

#define PEAL_VERSION_MAJOR 0
#define PEAL_VERSION_MINOR 1
#define PEAL_VERSION_PATCH 0

// The version as one number, which is larger for a later version: 1.2.3 is 1002003.
#define PEAL_VERSION (PEAL_VERSION_MAJOR * 1000000 + PEAL_VERSION_MINOR * 1000 + PEAL_VERSION_PATCH)

#define PEAL_VERSION_TEXT_OF_(major, minor, patch) #major "." #minor "." #patch
#define PEAL_VERSION_TEXT_(major, minor, patch) PEAL_VERSION_TEXT_OF_(major, minor, patch)
// The version as text for people: "1.2.3".
#define PEAL_VERSION_TEXT \
  PEAL_VERSION_TEXT_(PEAL_VERSION_MAJOR, PEAL_VERSION_MINOR, PEAL_VERSION_PATCH)
