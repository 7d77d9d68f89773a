// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "trace/names.h"

namespace peal::runtime {

/// Knows the newest regular view, and why it ended.
class ViewCause {
 public:
  void on_event(const order::Event& event, const trace::Names& names);
  /// Call it before the application is told.
  void on_view(const order::View& view, const trace::Names& names);
  /// The application knows a regular view and why the one before ended: from here on, text() is
  /// about the new view.
  void on_told() { gather_.clear(); }

  /// Why the newest view ended, in plain words; empty before that.
  const std::string& text() const { return gather_.empty() ? passage_ : gather_; }
  /// Members of the newest regular view.
  const std::vector<MemberId>& members() const { return members_; }

 private:
  std::vector<MemberId> members_;
  Duration pause_{};    ///< the last time for which this process was suspended
  std::string gather_;  ///< as the engine said, since the newest regular view; empty while it lasts
  std::string passage_;  ///< from the members that continue together; for engines that do not say
};

}  // namespace peal::runtime
