// SPDX-License-Identifier: Apache-2.0
#include "order/option.h"

#include "base/text.h"

namespace peal::order {
namespace {

struct TimeUnit {
  std::string_view suffix;
  std::int64_t ns;
  std::string_view word;
};
constexpr TimeUnit kUnits[] = {{"_ns", 1, "nanoseconds"},
                               {"_us", 1'000, "microseconds"},
                               {"_ms", 1'000'000, "milliseconds"},
                               {"_s", 1'000'000'000, "seconds"}};

const TimeUnit& unit_of(std::string_view key) {
  for (const TimeUnit& unit : kUnits) {
    if (key.ends_with(unit.suffix)) return unit;
  }
  return kUnits[0];
}

constexpr std::int64_t kThousandths = 1'000;

/// `number` divided by `unit`, a power of ten, without trailing zeros.
std::string decimal(std::int64_t number, std::int64_t unit) {
  std::string text = std::to_string(number / unit);
  std::int64_t rest = number % unit;
  if (rest == 0) return text;
  text += '.';
  for (std::int64_t digit = unit / 10; rest != 0; digit /= 10) {
    text += static_cast<char>('0' + rest / digit);
    rest %= digit;
  }
  return text;
}

std::string_view word_at(const Option& option, std::int64_t number) {
  return option.words[static_cast<std::size_t>(number - option.least)];
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += '"' + std::string(words[i]) + '"';
  }
  return text;
}

/// Thousandths, from digits with at most three behind the point.
std::optional<std::int64_t> fraction_in(const Option& option, std::string_view typed) {
  const auto point = typed.find('.');
  std::string digits(typed.substr(0, point));
  std::string behind(point == std::string_view::npos ? "" : typed.substr(point + 1));
  if (behind.size() > 3) return std::nullopt;
  behind.resize(3, '0');
  return number_in<std::int64_t>(digits + behind, option.least, option.most);
}

}  // namespace

std::string text_of(const Option& option, std::int64_t number) {
  if (option.automatic == number) return "\"auto\"";
  switch (option.kind) {
    case Option::Kind::number: return std::to_string(number);
    case Option::Kind::duration:
    case Option::Kind::fraction: return decimal(number, option.unit());
    case Option::Kind::word:
      if (!option.accepts(number)) return std::to_string(number);
      return '"' + std::string(word_at(option, number)) + '"';
    case Option::Kind::flag: return number != 0 ? "true" : "false";
    case Option::Kind::acceptors: break;
  }
  return {};
}

std::string accepted_by(const Option& option) {
  switch (option.kind) {
    case Option::Kind::number: {
      // The text names "auto", so the range excludes the number of "auto".
      const bool last = option.automatic == option.most;
      return (option.automatic ? "\"auto\" or a whole number from " : "a whole number from ") +
             std::to_string(option.least) + " to " + std::to_string(option.most - (last ? 1 : 0));
    }
    case Option::Kind::duration: {
      const TimeUnit& unit = unit_of(option.key);
      return "a number from " + decimal(option.least, unit.ns) + " to " +
             decimal(option.most, unit.ns) + " (" + std::string(unit.word) + ")";
    }
    case Option::Kind::fraction:
      return "a number from " + text_of(option, option.least) + " to " +
             text_of(option, option.most);
    case Option::Kind::word: return list_of(option.words);
    case Option::Kind::flag: return "true or false";
    case Option::Kind::acceptors:
      return "an odd number of numbers of [[nodes]], each once, such as [1, 2, 3]";
  }
  return {};
}

std::string refusal(const Option& option, std::int64_t number) {
  if (option.accepts(number)) return {};
  const bool word = option.kind == Option::Kind::word;
  return std::string(option.key) + " = " +
         (word ? std::to_string(number) : text_of(option, number)) +
         " is not accepted: it must be " +
         (word ? accepted_by(option)
               : text_of(option, option.least) + " to " + text_of(option, option.most));
}

std::optional<std::int64_t> number_of(const Option& option, std::string_view typed) {
  switch (option.kind) {
    case Option::Kind::word:
      for (std::size_t i = 0; i < option.words.size(); ++i) {
        if (option.words[i] == typed) return option.least + static_cast<std::int64_t>(i);
      }
      return std::nullopt;
    case Option::Kind::flag:
      if (typed != "true" && typed != "false") return std::nullopt;
      return typed == "true" ? 1 : 0;
    case Option::Kind::number:
      if (typed == "auto") return option.automatic;
      return number_in<std::int64_t>(typed, option.least, option.most);
    case Option::Kind::fraction: return fraction_in(option, typed);
    case Option::Kind::duration:
    case Option::Kind::acceptors: break;
  }
  return std::nullopt;
}

std::int64_t Option::unit() const {
  switch (kind) {
    case Kind::duration: return unit_of(key).ns;
    case Kind::fraction: return kThousandths;
    case Kind::number:
    case Kind::word:
    case Kind::flag:
    case Kind::acceptors: break;
  }
  return 1;
}

}  // namespace peal::order
