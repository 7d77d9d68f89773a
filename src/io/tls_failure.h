// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/error.h"

struct ssl_st;

namespace peal::io {

enum class HungUp { no, in_handshake, later };

/// The reason why a call on `ssl` failed, as a text for users, with a remedy where there is one.
/// `code` is the result of SSL_get_error(). `hung_up` says whether and when the peer closed the
/// connection. The error's code is not_permitted (one side does not trust the other) or closed.
IoError tls_failure(ssl_st* ssl, int code, HungUp hung_up);

}  // namespace peal::io
