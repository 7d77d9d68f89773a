// SPDX-License-Identifier: Apache-2.0
#include "runtime/stall_notice.h"

#include <cstdint>

namespace peal::runtime {
namespace {

constexpr Duration kLookGap = seconds(1);
constexpr Duration kTellGap = seconds(60);

std::string seconds_text(Duration span) { return std::to_string(span.ns / seconds(1).ns) + " s"; }

}  // namespace

std::string StallNotice::look(Instant now, const std::string& waits_for) {
  next_ = now + kLookGap;
  if (moved_ || waits_for.empty()) {
    const std::string text =
        told_.empty() ? std::string()
                      : what_ + " goes on: it stood still for " + seconds_text(now - *since_);
    moved_ = false;
    since_.reset();
    told_.clear();
    return text;
  }
  if (!since_) since_ = now;
  if (now - *since_ < kPatience || waits_for == told_) return {};
  if (!told_.empty() && now - told_at_ < kTellGap) return {};
  told_ = waits_for;
  told_at_ = now;
  return what_ + " has stood still for " + seconds_text(now - *since_) + ": it waits for " +
         waits_for;
}

}  // namespace peal::runtime
