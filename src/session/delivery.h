// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "group/groups.h"
#include "session/backlog.h"

namespace peal::session {

/// Carries out the effects of group::Groups: queues events in the sessions of clients, and passes
/// requests for the node to Host. Encodes each event once for each kind of memory, however many
/// clients get the event.
class Delivery final : public group::Effects {
 public:
  Delivery(Context& context, Registry& registry, Backlog& backlog, native::EventEncoder& encoder)
      : context_(context), registry_(registry), backlog_(backlog), encoder_(encoder) {}
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  // group::Effects
  void deliver(std::span<const std::uint32_t> clients, const group::Received& message) override;
  void view(std::span<const std::uint32_t> clients, const group::GroupView& view) override;
  void transitional(std::uint32_t client, std::string_view group) override;
  void left(std::uint32_t client, std::string_view group) override;
  void gap(std::span<const std::uint32_t> clients, std::string_view group) override;
  bool may_hold(std::uint64_t bytes) const override { return bytes <= held_bytes_max(); }
  void dropped() override;
  Result<std::uint64_t, Errc> submit(ByteView message, Service service, DomainSet domains) override;
  void replace_control(ByteView message, DomainSet domains) override {
    context_.host.replace_control(message, domains);
  }
  std::uint64_t block(bool blocked) override { return context_.host.block(blocked); }
  void settled(const ViewId& view, std::uint64_t hash) override;

 private:
  /// Messages that wait for an exchange of tables may take 1/kHeldShare of what may wait for
  /// clients.
  static constexpr std::uint64_t kHeldShare = 4;
  std::uint64_t held_bytes_max() const {
    const Options& options = context_.options;
    return std::max<std::uint64_t>(options.memory_bytes_max / kHeldShare,
                                   options.message_bytes_max);
  }

  /// The encoder's current event: in the client's region if possible, otherwise in the daemon's own
  /// memory.
  const ChunkRef& chunk_for(const Session& it);
  void append_private_name(const group::ClientKey& client, std::string_view name,
                           std::string& out) const;

  Context& context_;
  Registry& registry_;
  Backlog& backlog_;
  native::EventEncoder& encoder_;
  std::string sender_;  ///< scratch
};

}  // namespace peal::session
