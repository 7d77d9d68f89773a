// SPDX-License-Identifier: Apache-2.0
// Instead of the other verbs_*.cc, if libibverbs is missing when Peal is built.
#include "io/fabric/verbs.h"

namespace peal::io::fabric {

Result<std::unique_ptr<Verbs>, VerbsProblem> Verbs::open(const Endpoint& /*at*/) {
  return unexpected(
      verbs_missing("Peal was built without it: install libibverbs-dev and build again"));
}

}  // namespace peal::io::fabric
