// SPDX-License-Identifier: Apache-2.0
#include "sim/world/engine_options.h"

#include <algorithm>
#include <span>

#include "base/assert.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

using order::Option;

/// Bytes of decided values that simulated nodes keep: enough for a scenario, and little memory.
constexpr std::int64_t kHistoryBytes = 16 << 20;

std::string with_underscores(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

bool has_value(const Option& option) { return option.kind != Option::Kind::acceptors; }

/// Reads a value in a scenario's syntax; nullopt if the option does not accept the value.
std::optional<std::int64_t> number_in(const Option& option, const std::string& text) {
  const bool time = option.kind == Option::Kind::duration;
  if (option.kind == Option::Kind::flag) {
    if (text != "yes" && text != "no") return std::nullopt;
    return text == "yes" ? 1 : 0;
  }
  if (option.kind == Option::Kind::word || option.kind == Option::Kind::fraction) {
    return order::number_of(option, text);
  }
  const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
  Tokenizer words(time && bare ? text + "ms" : text, 0);
  const std::int64_t number =
      time ? words.duration().ns : static_cast<std::int64_t>(words.number(0, 1ULL << 40));
  if (words.failed()) return std::nullopt;
  return number;
}

}  // namespace

bool is_called(const Option& option, std::string_view name) {
  const std::string wanted = with_underscores(name);
  const std::string_view own = option.name();
  if (own == wanted) return true;
  for (const std::string_view unit : {"_ms", "_bytes_max"}) {
    const bool of_kind =
        unit == "_ms" ? option.kind == Option::Kind::duration : option.kind == Option::Kind::number;
    if (of_kind && own.size() > unit.size() && own.ends_with(unit) &&
        own.substr(0, own.size() - unit.size()) == wanted) {
      return true;
    }
  }
  return false;
}

EngineOptions::EngineOptions(const order::Descriptor& engine) : engine_(&engine) {
  for (const order::Descriptor* each : {&order::default_engine(), engine_}) {
    for (const Option& option : each->options()) {
      if (has_value(option)) values_.set(option.key, option.normal);
    }
  }
  set("history", kHistoryBytes);
  follow();
}

const Option* EngineOptions::find(std::string_view name) const {
  for (const order::Descriptor* each : {engine_, &order::default_engine()}) {
    for (const Option& option : each->options()) {
      if (has_value(option) && is_called(option, name)) return &option;
    }
  }
  return nullptr;
}

bool EngineOptions::read(std::string_view name, const std::string& text) {
  const Option* option = find(name);
  if (option == nullptr) return false;
  const std::optional<std::int64_t> number = number_in(*option, text);
  if (number) set(name, *number);
  return number.has_value();
}

void EngineOptions::set(std::string_view name, std::int64_t number) {
  for (const order::Descriptor* each : {&order::default_engine(), engine_}) {
    for (const Option& option : each->options()) {
      if (has_value(option) && is_called(option, name)) values_.set(option.key, number);
    }
  }
  follow();
}

// Copies the packet size and max_gap from the default engine: scenarios set them for all engines.
void EngineOptions::follow() {
  if (engine_ == &order::default_engine()) return;
  for (const Option& option : engine_->options()) {
    if (option.name() == "packet_bytes_max") values_.set(option.key, packet_bytes_max());
    if (option.name() == "max_gap") values_.set(option.key, max_gap());
  }
}

std::int64_t EngineOptions::number(std::string_view name) const {
  const Option* option = find(name);
  PEAL_ASSERT(option != nullptr);
  return values_.get(option->key).value_or(option->normal);
}

std::string_view EngineOptions::word(std::string_view name) const {
  const Option* option = find(name);
  PEAL_ASSERT(option != nullptr && option->kind == Option::Kind::word);
  return order::chosen_word(values_, option->key);
}

bool EngineOptions::differs(std::string_view name) const {
  const Option* option = find(name);
  return option != nullptr && values_.get(option->key) != option->normal;
}

std::string EngineOptions::choices() const {
  std::string text;
  for (const std::string_view name : kEngineChoices) {
    if (!differs(name)) continue;
    const Option& option = *find(name);
    const bool flag = option.kind == Option::Kind::flag;
    const bool words = option.kind == Option::Kind::word;
    text += " " + std::string(name) + "=" +
            (flag    ? "yes"
             : words ? std::string(word(name))
                     : order::text_of(option, number(name)));
  }
  return text;
}

std::string EngineOptions::validate(const std::vector<order::DomainNodes>& domains) const {
  for (const order::Descriptor* each : {&order::default_engine(), engine_}) {
    for (const Option& option : each->options()) {
      if (!has_value(option)) continue;
      if (std::string wrong = order::refusal(option, *values_.get(option.key)); !wrong.empty()) {
        return wrong;
      }
    }
    const auto together = each->validate(values_, domains);
    if (!together) return together.error();
  }
  return {};
}

// The size that the default engine has, or the least that the engine accepts.
std::uint32_t EngineOptions::packet_bytes_max() const {
  std::int64_t bytes = 0;
  for (const order::Descriptor* each : {&order::default_engine(), engine_}) {
    for (const Option& option : each->options()) {
      if (option.name() != "packet_bytes_max") continue;
      if (bytes == 0) bytes = values_.get(option.key).value_or(option.normal);
      bytes = std::max(bytes, option.least);
    }
  }
  return static_cast<std::uint32_t>(bytes);
}

std::uint32_t EngineOptions::max_gap() const { return usual().max_gap; }

order::Needs EngineOptions::usual() const { return order::default_engine().needs(values_, 1); }

const Option* find_option_named(std::string_view name) {
  for (const order::Descriptor* engine : order::engines()) {
    for (const Option& option : engine->options()) {
      if (has_value(option) && is_called(option, name)) return &option;
    }
  }
  return nullptr;
}

std::string engines_with_option(std::string_view name) {
  std::string text;
  for (const order::Descriptor* engine : order::engines()) {
    const auto options = engine->options();
    const bool has = std::any_of(options.begin(), options.end(), [name](const Option& option) {
      return has_value(option) && is_called(option, name);
    });
    if (has) text += (text.empty() ? "" : " or ") + std::string(engine->name);
  }
  return text;
}

}  // namespace peal::sim
