// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "group/groups.h"
#include "session/delivery.h"
#include "session/lifecycle.h"
#include "session/native/connections.h"
#include "session/reconfiguration.h"
#include "session/requests.h"
#include "session/sessions.h"
#include "session/shared_regions.h"

namespace peal::session {

/// The parts of Sessions. Each part uses only parts above it, except that `delivery` also uses
/// `groups`.
struct Sessions::Parts {
  Parts(const Options& options, Host& host, Spool& spool);

  Context context;
  ChunkPool chunks;  ///< outlives all events
  native::EventEncoder encoder{chunks};
  SharedRegions regions{context};
  Registry registry{context.options};
  Backlog backlog{context, registry, chunks, encoder};
  Delivery delivery{context, registry, backlog, encoder};
  group::Groups groups;
  Lifecycle lifecycle;
  Requests requests{context, registry, backlog, groups};
  Reconfiguration reconfiguration{context, registry, requests, groups};
  native::Connections connections{context, lifecycle, requests, backlog};
  MemberId self{};
};

}  // namespace peal::session
