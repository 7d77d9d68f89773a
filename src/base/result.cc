// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include "base/assert.h"

namespace peal {

std::string_view errc_name(Errc code) {
  switch (code) {
    case Errc::would_block: return "would_block";
    case Errc::too_large: return "too_large";
    case Errc::closed: return "closed";
    case Errc::invalid_option: return "invalid_option";
    case Errc::address_in_use: return "address_in_use";
    case Errc::not_permitted: return "not_permitted";
    case Errc::system: return "system";
  }
  PEAL_ASSERT(false && "unknown error code");
}

}  // namespace peal
