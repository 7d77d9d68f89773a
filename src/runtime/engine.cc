// SPDX-License-Identifier: Apache-2.0
// The engine, as a node in the world runs it.

#include <algorithm>

#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "runtime/acceptor_log.h"
#include "runtime/runtime.h"

namespace peal::runtime {
namespace {

/// Size of the largest packet that the engine builds.
std::uint32_t engine_packet_bytes(const config::Settings& settings) {
  const std::uint32_t datagram = packet_bytes(settings);
  if (!settings.keys) return datagram;
  return std::min(datagram - config::sealed_data_longer(*settings.order), frame_bytes(settings));
}

}  // namespace

std::unique_ptr<order::Engine> Runtime::make_engine(std::uint64_t epoch, order::Host& host) {
  order::Setup setup;
  setup.self = {settings_.self(), epoch};
  setup.list = list_of(settings_);
  setup.cluster = cluster_id(settings_);
  setup.packet_bytes_max = engine_packet_bytes(settings_);
  setup.authenticated = settings_.keys.has_value();
  setup.streams = settings_.streams;
  setup.options = settings_.options;
  setup.domains = domain_nodes(settings_);
  if (log_ != nullptr) {
    setup.log = &log_->log();
    setup.owed = &log_->owed();
  }
  Digest seed;
  seed.add(setup.self.node.value);
  seed.add(epoch);
  setup.seed = seed.value();
  return settings_.order->make(setup, frames_, host);
}

}  // namespace peal::runtime
