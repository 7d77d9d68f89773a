// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "io/fabric/verbs.h"

namespace peal::io::fabric {

VerbsUse open_verbs(const Options& options, VerbsOpener open) {
  VerbsUse use;
  if (options.choice == Choice::shm || options.choice == Choice::tcp) return use;
  if (options.at.is_unspecified()) {
    use.problem = "RDMA: this node has no address: give it one";
    return use;
  }
  auto opened = open(options.at);
  if (!opened) {
    use.problem = opened.error().text;
    use.has_failed = opened.error().has_device;
    return use;
  }
  // Behind the device: without one, nobody should be told to let writes travel in clear.
  if (options.keys && !options.verbs_in_clear) {
    use.problem = verbs_in_clear_text();
    return use;
  }
  use.device = std::move(*opened);
  return use;
}

}  // namespace peal::io::fabric
