// SPDX-License-Identifier: Apache-2.0
// A shared library that contains Peal.

#include <peal/client.h>
#include <peal/member.h>

/// Returns 1 if a client finds a daemon or a member can be embedded, and 0 otherwise.
extern "C" int plugin_start() {
  if (peal::Client::connect({}).ok()) return 1;
  return peal::Member::embed({}).ok() ? 1 : 0;
}
