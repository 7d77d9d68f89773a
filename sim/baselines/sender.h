// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "order/engine.h"
#include "sim/baselines/frame.h"

namespace peal::sim::genuine {

/// A node's own units from the host to their keys. Units under way are all for one set of domains:
/// a server of only one of two sets could not tell which unit was first.
class Sender {
 public:
  struct Limits {
    std::uint32_t window = 0;  ///< maximum number of units under way
    std::uint32_t unit_bytes_max = 0;
    Duration retry{};  ///< how long to wait for a key before the unit is sent again
  };
  struct UnderWay {
    Head head;
    BufferRef unit;
    Key key = 0;  ///< 0: unknown
    Instant retry_at{};
    Duration wait{};
  };

  Sender(const Layout& layout, MemberId self, const Limits& limits)
      : layout_(layout), self_(self), own_(layout.domain_of(self.node)), limits_(limits) {}

  /// Takes units from the host, and calls send(unit) for each of them. `floor`: the highest key
  /// that this node has delivered.
  template <class Send>
  void pull(Instant now, order::Host& host, Key floor, Send send) {
    while (under_way_.size() < limits_.window && host.backlog_units() > 0) {
      const DomainSet to = layout_.from_host(host.next_domains());
      if (!under_way_.empty() && under_way_.front().head.to != to) return;
      order::Unit unit;
      if (!host.next_unit(limits_.unit_bytes_max, unit)) return;
      UnderWay next;
      next.head.sender = self_;
      next.head.number = ++number_;
      next.head.to = to;
      next.head.service = unit.service;
      next.head.floor = std::max(floor, told_);
      for (const DomainId domain : to) next.head.index[domain] = ++index_[domain];
      next.unit = std::move(unit.bytes);
      next.wait = limits_.retry;
      next.retry_at = now + next.wait;
      under_way_.push_back(std::move(next));
      send(under_way_.back());
    }
  }
  /// Calls send(unit) for each unit whose key should be known by now.
  template <class Send>
  void retry(Instant now, Send send) {
    for (UnderWay& each : under_way_) {
      if (each.key != 0 || each.retry_at > now) continue;
      each.wait = std::min(each.wait * 2, limits_.retry * 16);
      each.retry_at = now + each.wait;
      send(each);
    }
  }

  /// A server of another domain says the key of a unit that this node does not deliver.
  void told(std::uint64_t number, Key key, order::Effects& out) {
    const bool known = !under_way_.empty() && number >= under_way_.front().head.number &&
                       number <= under_way_.back().head.number;
    if (!known || under_way_.front().head.to.has(own_) || key == 0) return;
    under_way_[number - under_way_.front().head.number].key = key;
    while (!under_way_.empty() && under_way_.front().key != 0) {
      told_ = std::max(told_, under_way_.front().key);
      out.originate(ViewId{}, under_way_.front().key);
      under_way_.pop_front();
    }
  }
  /// This node is about to deliver its own unit.
  void place(const ViewId& view, std::uint64_t number, Key key, order::Effects& out) {
    if (under_way_.empty() || under_way_.front().head.number != number) return;
    out.originate(view, key);
    under_way_.pop_front();
  }

  const std::deque<UnderWay>& under_way() const { return under_way_; }
  std::optional<Instant> next_deadline() const {
    std::optional<Instant> first;
    for (const UnderWay& each : under_way_) {
      if (each.key == 0 && (!first || each.retry_at < *first)) first = each.retry_at;
    }
    return first;
  }
  std::uint64_t taken() const { return number_; }

 private:
  const Layout& layout_;
  MemberId self_;
  DomainId own_;
  Limits limits_;
  std::uint64_t number_ = 0;  ///< of the last unit
  std::array<std::uint64_t, kDomainMax + 1> index_{};
  Key told_ = 0;  ///< the highest key that another domain told
  std::deque<UnderWay> under_way_;
};

}  // namespace peal::sim::genuine
