// SPDX-License-Identifier: Apache-2.0
#include "runtime/refusals.h"

#include "runtime/text.h"

namespace peal::runtime {

std::string Refusals::add(NodeId from, seal::Refusal reason, const trace::Names& names) {
  const std::uint32_t bit = 1U << static_cast<unsigned>(reason);
  std::uint32_t& told = told_[from];
  if ((told & bit) != 0) return {};
  told |= bit;
  std::string text = refused_text(from, reason, names);
  if (!text.empty()) why_[from] = text;
  return text;
}

std::string Refusals::why(NodeId node) const {
  const auto found = why_.find(node);
  return found == why_.end() ? std::string() : found->second;
}

}  // namespace peal::runtime
