// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "order/registry/registry.h"

namespace peal::order {

const Descriptor* find_engine(std::string_view name) {
  const auto all = engines();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Descriptor* each) { return each->name == name; });
  return found == all.end() ? nullptr : *found;
}

bool take_engine(std::string_view name, const Descriptor*& target) {
  const Descriptor* found = find_engine(name);
  if (found != nullptr) target = found;
  return found != nullptr;
}

const Descriptor& default_engine() { return *engines().front(); }

std::string engine_names() {
  const auto all = engines();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) text += i + 1 == all.size() ? " or " : ", ";
    text += '"' + std::string(all[i]->name) + '"';
  }
  return text;
}

}  // namespace peal::order
