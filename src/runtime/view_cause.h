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
  /// Call it before Application::on_view().
  void on_view(const order::View& view, const trace::Names& names);
  /// The application knows a regular view and why the one before ended: from here on, text() is
  /// about the end of the new view.
  void on_told() { gather_.clear(); }

  /// Why a regular view ended, in plain words. Valid while Application::on_view() reports the
  /// transitional and the regular view that follow that view.
  const std::string& text() const { return gather_.empty() ? passage_ : gather_; }
  /// Members of the newest regular view.
  const std::vector<MemberId>& members() const { return members_; }

 private:
  std::vector<MemberId> members_;
  Duration pause_{};     ///< for how long this process was suspended last
  std::string gather_;   ///< the engine's reason why the newest regular view ended; empty: none yet
  std::string passage_;  ///< the reason if the engine gives none: who left, or that others came
};

}  // namespace peal::runtime
