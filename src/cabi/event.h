// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "peal/events.h"
#include "peal/peal.h"

namespace peal::cabi {

/// Converts one event for C callers. Thread: one at a time.
class EventView {
 public:
  /// Fills `out`. The pointers in `out` stay valid until the next call of show().
  void show(ClientEvent event, peal_event& out);

 private:
  void fill(const GroupMessage& from, peal_event& out);
  void fill(const GroupView& from, peal_event& out);
  void fill(const Transitional& from, peal_event& out);
  void fill(const Left& from, peal_event& out);
  void fill(const Gap& from, peal_event& out);
  void fill(const SlowWarning& from, peal_event& out);
  void fill(const Refused& from, peal_event& out);
  void fill(const Disconnected& from, peal_event& out);
  void fill(const Reconnected& from, peal_event& out);
  void fill(const Ended& from, peal_event& out);

  std::optional<ClientEvent> event_;
  std::vector<peal_text> targets_;
  std::vector<peal_group_member> members_;
};

}  // namespace peal::cabi
