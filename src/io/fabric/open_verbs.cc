// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "io/fabric/verbs.h"

namespace peal::io::fabric {

VerbsUse open_verbs(const Options& options) {
  VerbsUse use;
  if (options.choice == Choice::shm || options.choice == Choice::tcp) return use;
  if (options.keys && !options.verbs_in_clear) {
    use.problem =
        "RDMA: writes would travel in clear, and this cluster has a key_file: set "
        "verbs_in_clear = true if nobody else reaches the network of its devices";
    return use;
  }
  if (options.at.is_unspecified()) {
    use.problem = "RDMA: this node has no address: give it one";
    return use;
  }
  auto opened = Verbs::open(options.at);
  if (opened) {
    use.device = std::move(*opened);
  } else {
    use.problem = opened.error();
  }
  return use;
}

}  // namespace peal::io::fabric
