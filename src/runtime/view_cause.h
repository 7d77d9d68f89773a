// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "trace/names.h"

namespace peal::runtime {

/// Remembers the newest regular view, and why this view ended.
class ViewCause {
 public:
  void on_event(const order::Event& event, const trace::Names& names);
  /// Call it before Application::on_view().
  void on_view(const order::View& view, const trace::Names& names);
  /// Call it after Application::on_view() for a regular view: from then on, text() is about the end
  /// of that view.
  void on_told() { gather_.clear(); }

  /// Why a regular view ended, in plain words. Valid while Application::on_view() reports the
  /// transitional and the regular view that follow the ended view.
  const std::string& text() const { return gather_.empty() ? passage_ : gather_; }
  /// Members of the newest regular view.
  const std::vector<MemberId>& members() const { return members_; }

 private:
  std::vector<MemberId> members_;
  Duration pause_{};     ///< duration of this process's last suspension
  std::string gather_;   ///< the engine's reason why the newest regular view ended; empty: none yet
  std::string passage_;  ///< the reason if the engine gives none: members left, or others came
};

}  // namespace peal::runtime
