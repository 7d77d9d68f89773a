// SPDX-License-Identifier: Apache-2.0
// A shared library with Peal inside.

#include <peal/client.h>
#include <peal/member.h>

/// Whether a client finds a daemon, or else a member can be embedded.
extern "C" int plugin_start() {
  if (peal::Client::connect({}).ok()) return 1;
  return peal::Member::embed({}).ok() ? 1 : 0;
}
