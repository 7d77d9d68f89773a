// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "seal/key.h"
#include "seal/packet.h"

// The random bytes of this module come from the operating system, through OpenSSL. If OpenSSL
// fails, no key would be safe, so the process stops.

namespace peal::seal {

Secret random_secret();
/// A salt for one incarnation of a node. Never use the salt for another incarnation.
Salt random_salt();

}  // namespace peal::seal
