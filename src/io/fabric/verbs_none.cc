// SPDX-License-Identifier: Apache-2.0
// Instead of the other verbs_*.cc, if libibverbs is missing when Peal is built.
#include "io/fabric/verbs.h"

namespace peal::io::fabric {

Result<std::unique_ptr<Verbs>, std::string> Verbs::open(const Endpoint& /*at*/) {
  return unexpected(
      "RDMA: Peal was built without it: install libibverbs-dev and build again, or set "
      "fabric = \"tcp\"");
}

}  // namespace peal::io::fabric
