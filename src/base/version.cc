// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace peal {
namespace {

constexpr std::uint32_t kMajor = 1'000'000;
constexpr std::uint32_t kMinor = 1'000;

/// Within a series, a later version can replace an earlier one.
std::uint32_t series_of(std::uint32_t version) {
  return version < kMajor ? version / kMinor : version / kMajor * kMinor;
}

}  // namespace

std::string version_text(std::uint32_t version) {
  return std::to_string(version / kMajor) + '.' + std::to_string(version % kMajor / kMinor) + '.' +
         std::to_string(version % kMinor);
}

std::string version_problem(std::uint32_t header, std::uint32_t library) {
  const bool is_older = library < header;
  if (!is_older && series_of(header) == series_of(library)) return {};
  const std::string wanted = version_text(header);
  return "this program was compiled with the headers of Peal " + wanted +
         ", and the library that it runs with is Peal " + version_text(library) + ", which is " +
         (is_older ? "older" : "not compatible") + ": install Peal " + wanted +
         ", or compile the program with the headers of the library";
}

}  // namespace peal
