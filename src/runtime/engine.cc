// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include <algorithm>

#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "runtime/acceptor_log.h"

namespace peal::runtime {
namespace {

/// Size of the largest packet that the engine builds.
std::uint32_t engine_packet_bytes(const config::Settings& settings) {
  const std::uint32_t datagram = packet_bytes(settings);
  if (!settings.keys) return datagram;
  return std::min(datagram - config::sealed_data_longer(*settings.order), frame_bytes(settings));
}

}  // namespace

std::unique_ptr<order::Engine> make_engine(const config::Settings& settings, std::uint64_t epoch,
                                           AcceptorLog* log, BufferPool& frames,
                                           order::Host& host) {
  order::Setup setup;
  setup.self = {settings.self(), epoch};
  setup.list = list_of(settings);
  setup.cluster = cluster_id(settings);
  setup.packet_bytes_max = engine_packet_bytes(settings);
  setup.authenticated = settings.keys.has_value();
  setup.streams = settings.streams;
  setup.options = settings.options;
  setup.domains = domain_nodes(settings);
  if (log != nullptr) {
    setup.log = &log->log();
    setup.owed = &log->owed();
  }
  Digest seed;
  seed.add(setup.self.node.value);
  seed.add(epoch);
  setup.seed = seed.value();
  return settings.order->make(setup, frames, host);
}

}  // namespace peal::runtime
