// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
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

const Option* find_option(std::string_view key) {
  for (const Descriptor* engine : engines()) {
    for (const Option& option : engine->options()) {
      if (option.key == key) return &option;
    }
  }
  return nullptr;
}

std::int64_t chosen(const OptionValues& values, std::string_view key) {
  const Option* option = find_option(key);
  PEAL_ASSERT(option != nullptr);
  return values.get(key).value_or(option->normal);
}

std::string chosen_text(const OptionValues& values, std::string_view key) {
  const std::int64_t number = chosen(values, key);
  return text_of(*find_option(key), number);
}

std::string_view chosen_word(const OptionValues& values, std::string_view key) {
  const std::int64_t number = chosen(values, key);
  const Option* option = find_option(key);
  PEAL_ASSERT(option->kind == Option::Kind::word && option->accepts(number));
  return option->words[static_cast<std::size_t>(number - option->least)];
}

std::string engine_names() { return engine_names(engines()); }

std::string engine_names(std::span<const Descriptor* const> all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != 0) text += i + 1 == all.size() ? " or " : ", ";
    text += '"' + std::string(all[i]->name) + '"';
  }
  return text;
}

}  // namespace peal::order
