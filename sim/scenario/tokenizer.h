// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace peal::sim {

/// Parses one line of a scenario, word by word. Remembers the first problem. After a problem, every
/// reader returns a harmless value, so that a command checks for problems once, at its end.
class Tokenizer {
 public:
  /// `nodes` is the size of the cluster, for names of nodes; 0 if unknown.
  Tokenizer(std::string_view line, std::uint32_t nodes);

  bool at_end() const { return next_ == words_.size(); }
  /// The next word, without taking it; empty at the end.
  std::string_view peek() const;
  /// Takes the next word; `what` describes the word in an error message.
  std::string take(std::string_view what);
  /// Takes the next word only if it is `word`.
  bool accept(std::string_view word);
  void expect(std::string_view word);
  /// The rest of the line, verbatim.
  std::string rest();

  std::vector<NodeId> nodes();  ///< n1 or n1,n3 or n1-n4 or all
  NodeId node();
  Duration duration();                             ///< 20ms, 1.5s, 300us, 5ns
  std::pair<Duration, Duration> duration_range();  ///< 0-30ms, 2ms-5ms, or one duration
  std::uint64_t number(std::uint64_t low, std::uint64_t high);
  std::string text();  ///< "quoted"
  /// Takes names such as x or x,y or x1-x9, and expands ranges.
  std::vector<std::string> names(std::string_view what);

  /// Takes all following `key=value` words; the readers below look keys up.
  void take_keys();
  bool has(std::string_view key) const;
  std::optional<std::string> value(std::string_view key);
  std::uint64_t number(std::string_view key, std::uint64_t normal, std::uint64_t low,
                       std::uint64_t high);
  double fraction(std::string_view key, double normal, double high = 1.0);
  Duration duration(std::string_view key, Duration normal);
  std::pair<Duration, Duration> duration_range(std::string_view key,
                                               std::pair<Duration, Duration> normal);
  std::pair<std::uint64_t, std::uint64_t> range(std::string_view key,
                                                std::pair<std::uint64_t, std::uint64_t> normal);
  std::vector<NodeId> nodes(std::string_view key, std::vector<NodeId> normal);
  /// Sets the size of the cluster: nodes are n1 to n<nodes>.
  void set_cluster(std::uint32_t nodes) { nodes_ = nodes; }
  std::optional<bool> yes_no(std::string_view key);
  /// Keys that no reader has looked up, with their values.
  std::vector<std::pair<std::string, std::string>> other_keys() const;
  void mark_used(std::string_view key);

  void fail(std::string problem);
  bool failed() const { return !problem_.empty(); }
  const std::string& problem() const { return problem_; }
  /// Sets the syntax of the command, for messages; `usage` must outlive this object.
  void set_usage(std::string_view usage) { usage_ = usage; }
  std::string problem_and_usage() const;
  /// Fails if a word or a key is left over. Returns true if there is no problem.
  bool finish();

 private:
  struct Word {
    std::string text;
    std::size_t at = 0;
    bool quoted = false;
  };
  struct Key {
    std::string name;
    std::string value;
    bool used = false;
  };

  void split(std::string_view line);
  std::vector<NodeId> nodes_of(const std::string& text);
  std::optional<Duration> duration_of(std::string_view text, std::string_view unit_hint);
  std::pair<Duration, Duration> duration_range_of(const std::string& text);

  std::string line_;
  std::uint32_t nodes_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
  std::vector<Key> keys_;
  std::string problem_;
  std::string_view usage_;
};

/// Returns the duration as a whole number of the largest fitting unit up to seconds: "1500us".
std::string duration_text(Duration duration);
/// Returns the names of the nodes: "n1,n3".
std::string nodes_text(const std::vector<NodeId>& nodes);

}  // namespace peal::sim
