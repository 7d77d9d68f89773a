// SPDX-License-Identifier: Apache-2.0
#include "sim/run/shrink.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "sim/run/pool.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

bool begins(const std::string& text, std::string_view word) {
  return text.compare(0, word.size(), word) == 0;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Returns the line without the names of nodes whose numbers are above `nodes`.
std::string without_nodes(const std::string& line, std::uint32_t nodes) {
  std::vector<std::string> kept;
  for (const std::string& word : words_of(line)) {
    const std::size_t equals = word.find('=');
    const std::string head = equals == std::string::npos ? "" : word.substr(0, equals + 1);
    const std::string tail = word.substr(head.size());
    const bool list = tail.size() > 1 && tail[0] == 'n' && std::isdigit(tail[1]) != 0;
    if (!list) {
      kept.push_back(word);
      continue;
    }
    std::string left;
    std::istringstream parts(tail);
    for (std::string part; std::getline(parts, part, ',');) {
      const bool stays = std::strtoul(part.c_str() + 1, nullptr, 10) <= nodes;
      if (stays) left += (left.empty() ? "" : ",") + part;
    }
    if (!left.empty()) kept.push_back(head + left);
  }
  // Remove the "|" of the parts of a split that are empty now.
  for (std::size_t i = 0; i < kept.size();) {
    const bool bar = kept[i] == "|";
    if (bar && (i + 1 == kept.size() || kept[i + 1] == "|" || i <= 1)) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return joined(kept);
}

class Shrinker {
 public:
  Shrinker(const Script& script, const ShrinkOptions& options) : options_(options), best_(script) {}

  Shrunk run();

 private:
  struct Verdict {
    std::string property;
    std::string text;
  };

  Verdict judge(const Script& script, std::FILE* plain);
  bool accept(Script candidate);
  bool spent() const { return tries_ >= options_.tries_max; }
  void make_plain(const Script& original);
  bool drop_lines();
  bool drop_nodes();
  bool drop_keys();
  bool weaken_loads();
  bool shorten_runs();
  Script merged(const Script& script) const;

  ShrinkOptions options_;
  Script best_;
  Verdict wanted_;
  std::uint32_t tries_ = 0;
};

Shrinker::Verdict Shrinker::judge(const Script& script, std::FILE* plain) {
  Verdict verdict;
  PoolOptions pool;
  pool.jobs = 1;
  pool.hang_seconds = options_.hang_seconds;
  run_pool(
      pool,
      [&](std::uint64_t) {
        RunOptions run;
        run.mutant = options_.mutant;
        run.plain = plain;
        const Outcome outcome = run_script(script, run);
        RunResult finding;
        finding.property = outcome.property();
        finding.text = outcome.problem();
        return finding;
      },
      [&](const RunResult& finding) {
        verdict = {finding.property, finding.text};
      });
  return verdict;
}

/// Merges consecutive `run` lines, and removes empty lines.
Script Shrinker::merged(const Script& script) const {
  Script out;
  out.name = script.name;
  Duration waiting{};
  for (const Script::Line& line : script.lines) {
    Tokenizer words(line.text, 0);
    if (words.accept("run") && words.peek() != "until") {
      waiting = waiting + words.duration();
      continue;
    }
    if (words.at_end() && line.text.find_first_not_of(" \t") == std::string::npos) continue;
    if (waiting.ns > 0) out.add("run " + duration_text(waiting));
    waiting = {};
    out.add(line.text);
  }
  if (waiting.ns > 0) out.add("run " + duration_text(waiting));
  return out;
}

bool Shrinker::accept(Script candidate) {
  if (spent()) return false;
  ++tries_;
  candidate = merged(candidate);
  if (candidate.text() == best_.text()) return false;
  const Verdict verdict = judge(candidate, nullptr);
  if (verdict.property != wanted_.property) return false;
  best_ = std::move(candidate);
  wanted_.text = verdict.text;
  if (options_.progress) options_.progress(tries_, best_.lines.size());
  return true;
}

void Shrinker::make_plain(const Script& original) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return;
  static_cast<void>(judge(original, file));
  std::rewind(file);
  std::string text;
  std::array<char, 4'096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), got);
  }
  std::fclose(file);
  static_cast<void>(accept(parse_script(original.name, text)));
}

/// Removes halves of the script, then quarters, and so on down to single lines. Keeps the first
/// line.
bool Shrinker::drop_lines() {
  bool any = false;
  for (std::size_t chunk = std::max<std::size_t>(best_.lines.size() / 2, 1); chunk > 0;
       chunk /= 2) {
    for (std::size_t at = 1; at < best_.lines.size() && !spent();) {
      Script candidate = best_;
      candidate.lines.clear();
      for (std::size_t i = 0; i < best_.lines.size(); ++i) {
        const bool inside = i >= at && i < at + chunk;
        // Keep the `run` lines, so that the remaining lines run at the same times as before.
        if (!inside || begins(best_.lines[i].text, "run ")) candidate.add(best_.lines[i].text);
      }
      if (accept(candidate)) {
        any = true;
      } else {
        at += chunk;
      }
    }
  }
  return any;
}

bool Shrinker::drop_nodes() {
  std::uint32_t nodes = 3;
  for (const std::string& word : words_of(best_.lines[0].text)) {
    if (begins(word, "nodes=")) nodes = static_cast<std::uint32_t>(std::stoul(word.substr(6)));
  }
  for (std::uint32_t fewer = 1; fewer < nodes && !spent(); ++fewer) {
    Script candidate;
    candidate.name = best_.name;
    for (const Script::Line& line : best_.lines) {
      std::string text = without_nodes(line.text, fewer);
      const std::size_t at = text.find("nodes=" + std::to_string(nodes));
      if (candidate.lines.empty() && at != std::string::npos) {
        text.replace(at, 6 + std::to_string(nodes).size(), "nodes=" + std::to_string(fewer));
      }
      Tokenizer check(text, fewer);
      candidate.add(text);
    }
    // Remove lines that are invalid without the lines removed above.
    while (true) {
      const std::string problem = check_script(candidate);
      if (problem.empty()) break;
      const std::size_t colon = problem.find(':', candidate.name.size());
      const std::size_t number =
          colon == std::string::npos ? 0 : std::strtoul(problem.c_str() + colon + 1, nullptr, 10);
      if (number < 2 || number > candidate.lines.size()) break;
      candidate.lines[number - 1].text.clear();
    }
    if (accept(candidate)) return true;
  }
  return false;
}

/// Removes options of the cluster and conditions of the network, one by one.
bool Shrinker::drop_keys() {
  bool any = false;
  for (std::size_t i = 0; i < best_.lines.size(); ++i) {
    for (std::size_t w = 1; i < best_.lines.size() && !spent(); ++w) {
      std::vector<std::string> words = words_of(best_.lines[i].text);
      if (w >= words.size()) break;
      const std::string& word = words[w];
      const bool key = word.find('=') != std::string::npos && !begins(word, "nodes=") &&
                       !begins(word, "seed=") && !begins(word, "rate=");
      if (!key || words[0] == "submit") continue;
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(w));
      Script candidate = best_;
      candidate.lines[i].text = joined(words);
      if (accept(candidate)) {
        any = true;
        --w;
      }
    }
  }
  return any;
}

bool Shrinker::weaken_loads() {
  bool any = false;
  for (std::size_t i = 0; i < best_.lines.size(); ++i) {
    for (int round = 0; round < 8 && !spent(); ++round) {
      std::vector<std::string> words = words_of(best_.lines[i].text);
      if (words.empty() || words[0] != "load") break;
      bool changed = false;
      for (std::string& word : words) {
        if (!begins(word, "rate=")) continue;
        const double rate = std::strtod(word.c_str() + 5, nullptr);
        changed = rate > 2;
        word = "rate=" + std::to_string(static_cast<std::uint64_t>(rate / 2));
      }
      Script candidate = best_;
      candidate.lines[i].text = joined(words);
      if (!changed || !accept(candidate)) break;
      any = true;
    }
  }
  return any;
}

bool Shrinker::shorten_runs() {
  bool any = false;
  for (std::size_t i = 0; i < best_.lines.size() && !spent(); ++i) {
    Tokenizer words(best_.lines[i].text, 0);
    if (!words.accept("run") || words.peek() == "until") continue;
    const Duration length = words.duration();
    for (const std::int64_t unit : {1'000'000'000LL, 1'000'000LL, 1'000LL}) {
      const Duration shorter{length.ns / 2 / unit * unit};
      if (shorter.ns <= 0 || i >= best_.lines.size()) continue;
      Script candidate = best_;
      candidate.lines[i].text = "run " + duration_text(shorter);
      if (accept(candidate)) {
        any = true;
        break;
      }
    }
  }
  return any;
}

Shrunk Shrinker::run() {
  wanted_ = judge(best_, nullptr);
  if (!wanted_.property.empty() && wanted_.property != "usage") {
    make_plain(best_);
    for (bool any = true; any && !spent();) {
      any = drop_lines();
      any = drop_nodes() || any;
      any = drop_keys() || any;
      any = weaken_loads() || any;
      any = shorten_runs() || any;
    }
  }
  return {best_, wanted_.property, wanted_.text, tries_};
}

}  // namespace

Shrunk shrink(const Script& script, const ShrinkOptions& options) {
  return Shrinker(script, options).run();
}

}  // namespace peal::sim
