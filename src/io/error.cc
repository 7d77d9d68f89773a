// SPDX-License-Identifier: Apache-2.0
#include "io/error.h"

#include <cerrno>
#include <system_error>

#include "io/descriptors.h"

namespace peal::io {
namespace {

Errc code_of(int number) {
  switch (number) {
    case EADDRINUSE: return Errc::address_in_use;
    case EADDRNOTAVAIL: return Errc::invalid_option;
    case EACCES:
    case EPERM:
    case EROFS: return Errc::not_permitted;
    default: return Errc::system;
  }
}

}  // namespace

IoError system_error(const std::string& what, int number) {
  const std::string limit = descriptor_limit_text(number);
  return {code_of(number), what + ": " + std::generic_category().message(number) +
                               (limit.empty() ? "" : "; " + limit)};
}

}  // namespace peal::io
