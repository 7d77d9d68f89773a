// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/tokenizer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace peal::sim {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array<Unit, 6> kUnits{{{"ns", 1},
                                      {"us", 1'000},
                                      {"ms", 1'000'000},
                                      {"s", 1'000'000'000},
                                      {"min", 60'000'000'000},
                                      {"h", 3'600'000'000'000}}};

/// Largest number in a range of names such as x1-x9.
constexpr std::uint64_t kNamesMost = 10'000;

bool parse_number(std::string_view text, std::uint64_t& out) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

bool parse_real(std::string_view text, double& out) {
  const std::string copy(text);
  if (copy.empty() || (copy[0] != '.' && (copy[0] < '0' || copy[0] > '9'))) return false;
  char* end = nullptr;
  out = std::strtod(copy.c_str(), &end);
  return *end == '\0' && std::isfinite(out);
}

/// Splits "20ms" into "20" and "ms".
std::pair<std::string_view, std::string_view> number_and_unit(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && ((text[at] >= '0' && text[at] <= '9') || text[at] == '.')) ++at;
  return {text.substr(0, at), text.substr(at)};
}

bool starts_key(std::string_view word) {
  const std::size_t at = word.find('=');
  return at != std::string_view::npos && at > 0 && word[0] != '<' && word[0] != '>' &&
         word[0] != '=' && word[0] != '!';
}

}  // namespace

Tokenizer::Tokenizer(std::string_view line, std::uint32_t nodes) : line_(line), nodes_(nodes) {
  split(line_);
}

void Tokenizer::split(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    if (line[at] == '#') return;
    Word word;
    word.at = at;
    bool inside = false;
    word.quoted = line[at] == '"';
    for (; at < line.size(); ++at) {
      if (line[at] == '"') {
        inside = !inside;
      } else if (!inside && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) {
        break;
      } else {
        word.text.push_back(line[at]);
      }
    }
    if (inside) fail("a quote is not closed");
    words_.push_back(std::move(word));
  }
}

std::string_view Tokenizer::peek() const {
  return at_end() ? std::string_view{} : std::string_view(words_[next_].text);
}

std::string Tokenizer::take(std::string_view what) {
  if (at_end()) {
    fail("the line ends where " + std::string(what) + " is expected");
    return {};
  }
  return words_[next_++].text;
}

bool Tokenizer::accept(std::string_view word) {
  if (at_end() || words_[next_].quoted || words_[next_].text != word) return false;
  ++next_;
  return true;
}

void Tokenizer::expect(std::string_view word) {
  if (accept(word)) return;
  fail(at_end()
           ? "the line ends where '" + std::string(word) + "' is expected"
           : "'" + words_[next_].text + "' stands where '" + std::string(word) + "' is expected");
}

std::string Tokenizer::rest() {
  if (at_end()) return {};
  std::string text = line_.substr(words_[next_].at);
  next_ = words_.size();
  return text;
}

std::vector<NodeId> Tokenizer::nodes_of(const std::string& text) {
  std::vector<NodeId> out;
  if (text == "all") {
    for (std::uint32_t n = 1; n <= nodes_; ++n) out.push_back(NodeId{n});
    return out;
  }
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string part = text.substr(from, comma - from);
    const std::size_t dash = part.find('-');
    const std::string first = part.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : part.substr(dash + 1);
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (first.size() < 2 || first[0] != 'n' || !parse_number(first.substr(1), low) ||
        last.size() < 2 || last[0] != 'n' || !parse_number(last.substr(1), high)) {
      fail("'" + part + "' is no node; nodes are n1, n2, ... and lists of them are n1,n3 or n1-n4");
      return {NodeId{1}};
    }
    if (low < 1 || high > nodes_ || low > high) {
      fail("'" + part + "' is not in this cluster of " + std::to_string(nodes_) + " nodes");
      return {NodeId{1}};
    }
    for (std::uint64_t n = low; n <= high; ++n)
      out.push_back(NodeId{static_cast<std::uint32_t>(n)});
    from = comma + 1;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<NodeId> Tokenizer::nodes() {
  const std::string word = take("a node");
  return failed() ? std::vector<NodeId>{NodeId{1}} : nodes_of(word);
}

NodeId Tokenizer::node() {
  const std::vector<NodeId> list = nodes();
  if (list.size() != 1) fail("one node is expected here");
  return list.empty() ? NodeId{1} : list[0];
}

std::optional<Duration> Tokenizer::duration_of(std::string_view text, std::string_view unit_hint) {
  auto [number, unit] = number_and_unit(text);
  if (unit.empty()) unit = unit_hint;
  double value = 0;
  if (!parse_real(number, value)) return std::nullopt;
  if (unit.empty() && value == 0) return Duration{};
  for (const Unit& known : kUnits) {
    if (known.name == unit) {
      return Duration{std::llround(value * static_cast<double>(known.ns))};
    }
  }
  return std::nullopt;
}

Duration Tokenizer::duration() {
  const std::string word = take("a duration");
  const std::optional<Duration> value = duration_of(word, {});
  if (!value) fail("'" + word + "' is no duration; write 20ms, 1.5s or 300us");
  return value.value_or(Duration{});
}

std::pair<Duration, Duration> Tokenizer::duration_range_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::string last = dash == std::string::npos ? text : text.substr(dash + 1);
  const std::string first = dash == std::string::npos ? text : text.substr(0, dash);
  const std::optional<Duration> high = duration_of(last, {});
  const std::optional<Duration> low = duration_of(first, number_and_unit(last).second);
  if (!low || !high || *low > *high) {
    fail("'" + text + "' is no range of durations; write 5ms or 0-30ms");
    return {};
  }
  return {*low, *high};
}

std::pair<Duration, Duration> Tokenizer::duration_range() {
  return duration_range_of(take("a duration or a range of them"));
}

std::uint64_t Tokenizer::number(std::uint64_t low, std::uint64_t high) {
  const std::string word = take("a number");
  std::uint64_t value = 0;
  if (!parse_number(word, value) || value < low || value > high) {
    fail("'" + word + "' is no number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
  }
  return value;
}

std::string Tokenizer::text() {
  if (!at_end() && !words_[next_].quoted) {
    fail("'" + words_[next_].text + "' stands where a quoted text is expected");
    return {};
  }
  return take("a quoted text");
}

std::vector<std::string> Tokenizer::names(std::string_view what) {
  const std::string text = take(what);
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t dash = part.find('-');
    const std::size_t digits = part.find_first_of("0123456789");
    if (dash == part.npos || digits >= dash) {
      names.push_back(part);
      continue;
    }
    const std::string stem = part.substr(0, digits);
    const bool same_stem = part.compare(dash + 1, stem.size(), stem) == 0;
    Tokenizer first(part.substr(digits, dash - digits), 0);
    Tokenizer last(part.substr(std::min(dash + 1 + stem.size(), part.size())), 0);
    const std::uint64_t low = first.number(0, kNamesMost);
    const std::uint64_t high = last.number(low, kNamesMost);
    if (!same_stem || first.failed() || last.failed()) {
      fail("'" + part + "' is no range of names such as x1-x9");
      return {};
    }
    for (std::uint64_t i = low; i <= high; ++i) names.push_back(stem + std::to_string(i));
  }
  return names;
}

void Tokenizer::take_keys() {
  std::vector<Word> others(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(next_));
  for (std::size_t i = next_; i < words_.size(); ++i) {
    const std::string& word = words_[i].text;
    if (words_[i].quoted || !starts_key(word)) {
      others.push_back(words_[i]);
      continue;
    }
    const std::size_t equals = word.find('=');
    Key key{word.substr(0, equals), word.substr(equals + 1)};
    if (has(key.name)) fail("'" + key.name + "' is given twice");
    keys_.push_back(std::move(key));
  }
  words_ = std::move(others);
}

bool Tokenizer::has(std::string_view key) const {
  return std::any_of(keys_.begin(), keys_.end(), [key](const Key& k) { return k.name == key; });
}

std::optional<std::string> Tokenizer::value(std::string_view key) {
  for (Key& known : keys_) {
    if (known.name != key) continue;
    known.used = true;
    return known.value;
  }
  return std::nullopt;
}

std::uint64_t Tokenizer::number(std::string_view key, std::uint64_t normal, std::uint64_t low,
                                std::uint64_t high) {
  const std::optional<std::string> text = value(key);
  if (!text) return normal;
  std::uint64_t out = 0;
  if (!parse_number(*text, out) || out < low || out > high) {
    fail(std::string(key) + "=" + *text + ": accepted is a number from " + std::to_string(low) +
         " to " + std::to_string(high));
    return normal;
  }
  return out;
}

double Tokenizer::fraction(std::string_view key, double normal, double high) {
  const std::optional<std::string> text = value(key);
  if (!text) return normal;
  double out = 0;
  if (!parse_real(*text, out) || out > high) {
    fail(std::string(key) + "=" + *text + ": accepted is a number from 0 to " +
         std::to_string(high));
    return normal;
  }
  return out;
}

Duration Tokenizer::duration(std::string_view key, Duration normal) {
  const std::optional<std::string> text = value(key);
  if (!text) return normal;
  const std::optional<Duration> out = duration_of(*text, {});
  if (!out) fail(std::string(key) + "=" + *text + ": accepted is a duration such as 20ms or 1.5s");
  return out.value_or(normal);
}

std::pair<Duration, Duration> Tokenizer::duration_range(std::string_view key,
                                                        std::pair<Duration, Duration> normal) {
  const std::optional<std::string> text = value(key);
  return text ? duration_range_of(*text) : normal;
}

std::pair<std::uint64_t, std::uint64_t> Tokenizer::range(
    std::string_view key, std::pair<std::uint64_t, std::uint64_t> normal) {
  const std::optional<std::string> text = value(key);
  if (!text) return normal;
  const std::size_t dash = text->find('-');
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  const bool ok = parse_number(std::string_view(*text).substr(0, dash), low) &&
                  parse_number(dash == std::string::npos ? std::string_view(*text)
                                                         : std::string_view(*text).substr(dash + 1),
                               high);
  if (!ok || low > high) {
    fail(std::string(key) + "=" + *text + ": accepted is a number or a range such as 8-200");
    return normal;
  }
  return {low, high};
}

std::vector<NodeId> Tokenizer::nodes(std::string_view key, std::vector<NodeId> normal) {
  const std::optional<std::string> text = value(key);
  return text ? nodes_of(*text) : std::move(normal);
}

std::optional<bool> Tokenizer::yes_no(std::string_view key) {
  const std::optional<std::string> text = value(key);
  if (!text) return std::nullopt;
  if (*text != "yes" && *text != "no")
    fail(std::string(key) + "=" + *text + ": accepted is yes or no");
  return *text == "yes";
}

std::vector<std::pair<std::string, std::string>> Tokenizer::other_keys() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Key& key : keys_) {
    if (!key.used) out.emplace_back(key.name, key.value);
  }
  return out;
}

void Tokenizer::mark_used(std::string_view key) { static_cast<void>(value(key)); }

void Tokenizer::fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

std::string Tokenizer::problem_and_usage() const {
  return usage_.empty() ? problem_ : problem_ + "; usage: " + std::string(usage_);
}

bool Tokenizer::finish() {
  if (!at_end()) fail("'" + words_[next_].text + "' is one word too many");
  for (const Key& key : keys_) {
    if (!key.used) fail("'" + key.name + "' means nothing here");
  }
  return !failed();
}

std::string duration_text(Duration duration) {
  for (auto unit = kUnits.rbegin() + 2; unit != kUnits.rend(); ++unit) {
    if (duration.ns % unit->ns == 0) {
      return std::to_string(duration.ns / unit->ns) + std::string(unit->name);
    }
  }
  return std::to_string(duration.ns) + "ns";
}

std::string nodes_text(const std::vector<NodeId>& nodes) {
  std::string out;
  for (const NodeId node : nodes) out += (out.empty() ? "n" : ",n") + std::to_string(node.value);
  return out;
}

}  // namespace peal::sim
