// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "seal/key.h"
#include "seal/packet.h"

// The only randomness of this module: the operating system's, through OpenSSL. If that fails, no
// key would be safe, and the process stops.

namespace peal::seal {

Secret random_secret();
/// For one incarnation of a node; never use it for another.
Salt random_salt();

}  // namespace peal::seal
