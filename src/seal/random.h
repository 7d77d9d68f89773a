// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "seal/key.h"
#include "seal/packet.h"

// The only randomness of this room: the operating system's, through OpenSSL. If it fails there is
// no key worth having, and the process stops.

namespace peal::seal {

Secret random_secret();
/// For one incarnation of a node; never to be used for another.
Salt random_salt();

}  // namespace peal::seal
