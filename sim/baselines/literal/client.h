// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/baselines/literal/links.h"
#include "sim/baselines/sender.h"

namespace peal::sim::genuine::literal {

/// Task 1 of the paper, and the slots: a unit is taken from the host if a slot is free for it at
/// all servers of its domains.
class Client final : private order::Host {
 public:
  Client(const Layout& layout, const Options& options, const Places& places, Post& post,
         Links& links, order::Host& host, std::uint32_t unit_bytes_max)
      : layout_(layout),
        options_(options),
        places_(places),
        post_(post),
        links_(links),
        host_(host),
        own_(layout.domain_of(post.self().node)),
        sender_(layout, post.self(), {options.slots, unit_bytes_max, options.retry}),
        scratch_(places.unit_cell_bytes()) {}

  Sender& sender() { return sender_; }
  const Sender& sender() const { return sender_; }
  /// A server of this node's domain knows that its slots up to this index are free.
  void note_released(std::uint64_t index) { released_[own_] = std::max(released_[own_], index); }
  /// Reads what servers have told.
  void read(order::Effects& out);
  /// `put_own(head, unit)` is called for units to the own domain.
  template <class PutOwn>
  bool pull(Instant now, Key delivered, PutOwn put_own) {
    const std::uint64_t before = sender_.taken();
    sender_.pull(now, *this, delivered, [&](const Sender::UnderWay& unit) {
      sent_.push_back(unit.head);
      write(now, unit);
      if (unit.head.to.has(own_)) put_own(unit.head, unit.unit.view());
    });
    return sender_.taken() != before;
  }

 private:
  std::uint32_t backlog_units() const override {
    return sent_.size() < options_.slots ? host_.backlog_units() : 0;
  }
  bool next_unit(std::uint32_t bytes_max, order::Unit& out) override {
    return host_.next_unit(bytes_max, out);
  }
  DomainSet next_domains() const override { return host_.next_domains(); }
  std::uint32_t receive_room_units() const override { return host_.receive_room_units(); }

  void read_reply(NodeId server, const Head& head, order::Effects& out);
  void write(Instant now, const Sender::UnderWay& unit);
  bool is_free(const Head& head) const;

  const Layout& layout_;
  const Options& options_;
  const Places& places_;
  Post& post_;
  Links& links_;
  order::Host& host_;
  DomainId own_;
  Sender sender_;
  std::array<std::uint64_t, kDomainMax + 1> released_{};  ///< by domain
  std::deque<Head> sent_;                                 ///< whose slots are not free
  std::vector<std::byte> scratch_;
};

}  // namespace peal::sim::genuine::literal
