// SPDX-License-Identifier: Apache-2.0
// Changes of the list of nodes. The engine decides when the pending list becomes active. Until
// then, the sockets, the names and the addresses include the nodes of both lists. Afterwards, they
// include the nodes of the new list.

#include <utility>

#include "config/nodes.h"
#include "runtime/runtime.h"

namespace peal::runtime {

void Runtime::set_nodes(Instant now, const config::Listing& listing) {
  take_adopted(now);
  if (listing == nodes_.pending().value_or(nodes_.listing())) return;  // most reloads keep the list
  // The active list may have changed since the request.
  if (const auto change = nodes_.validate(listing); !change) {
    application_.on_warning("the new list of nodes does not become active: " + change.error());
    return;
  }
  nodes_.set_pending(now, listing);
  transport_->use_table();
  node_->set_nodes(now, list_of(with(nodes_.settings(), listing)));
}

void Runtime::take_adopted(Instant now) {
  if (!std::exchange(nodes_adopted_, false)) return;
  nodes_.adopt(now);
  transport_->use_table();
  application_.on_nodes();
}

}  // namespace peal::runtime
