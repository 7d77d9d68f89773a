// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/error.h"

struct ssl_st;

namespace peal::io {

enum class HungUp { no, in_handshake, later };

/// Why a call on `ssl` failed, of which SSL_get_error said `code`: for a person, with a remedy
/// where there is one. `hung_up`: whether the peer did. Errors: not_permitted (one of the two does
/// not trust the other), closed.
IoError tls_failure(ssl_st* ssl, int code, HungUp hung_up);

}  // namespace peal::io
