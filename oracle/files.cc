// SPDX-License-Identifier: Apache-2.0
#include "oracle/files.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "order/registry/registry.h"
#include "trace/json.h"

namespace peal::oracle {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { ignore(std::fclose(file), "only read from"); }
};

// One trace file, read line by line. Keeps one chunk and one line in memory.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) error_ = path_ + ": " + std::strerror(errno);
  }

  /// Reads the next event into event(). Returns false at the end of the file, at an incomplete last
  /// line, and after an error, which error() returns.
  bool next(trace::Names& names) {
    if (!error_.empty() || !next_line()) return false;
    Result<trace::Event, std::string> parsed = trace::parse_json(line_, names);
    if (parsed.has_value()) {
      event_ = std::move(*parsed);
      has_event_ = true;
      // Without the missing events, other processes would seem to violate properties.
      if (event_.kind != trace::Kind::lost) return true;
      fail(std::to_string(event_.lines) +
           " lines are missing here, as there was no room for them: accepted are whole traces");
      return false;
    }
    if (ended_) {
      cut_ = true;  // the process was stopped while it wrote the line
      --lines_;
    } else {
      fail(parsed.error());
    }
    return false;
  }

  /// True if this and `other` are the same file, even under different names.
  bool is_same(const TraceFile& other) const {
    struct stat mine {};
    struct stat others {};
    return file_ != nullptr && other.file_ != nullptr &&
           ::fstat(::fileno(file_.get()), &mine) == 0 &&
           ::fstat(::fileno(other.file_.get()), &others) == 0 && mine.st_dev == others.st_dev &&
           mine.st_ino == others.st_ino;
  }

  const trace::Event& event() const { return event_; }
  /// True if the file had at least one event.
  bool has_event() const { return has_event_; }
  const std::string& path() const { return path_; }
  const std::string& error() const { return error_; }
  std::uint64_t lines() const { return lines_; }
  bool cut() const { return cut_; }

 private:
  // Reads the next line, without its line end. Sets `ended_` at the end of the file; bytes after
  // the last line end form a line.
  bool next_line() {
    line_.clear();
    while (!ended_) {
      const auto rest = std::string_view(chunk_.data(), filled_).substr(used_);
      const std::size_t stop = rest.find('\n');
      line_ += rest.substr(0, stop);
      used_ += stop == std::string_view::npos ? rest.size() : stop + 1;
      if (line_.size() > trace::kLineBytesMax) {
        ++lines_;
        return fail("the line is too long"), false;
      }
      if (stop != std::string_view::npos) {
        ++lines_;
        return true;
      }
      if (!fill()) return false;
    }
    if (line_.empty()) return false;
    ++lines_;
    return true;
  }

  bool fill() {
    used_ = 0;
    filled_ = std::fread(chunk_.data(), 1, chunk_.size(), file_.get());
    ended_ = filled_ == 0;
    if (ended_ && std::ferror(file_.get()) != 0) {
      error_ = path_ + ": " + std::strerror(errno);
      return false;
    }
    return true;
  }

  void fail(const std::string& what) {
    error_ = path_ + ":" + std::to_string(lines_) + ": " + what;
  }

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::array<char, 1U << 16U> chunk_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  bool ended_ = false;
  bool cut_ = false;
  std::string line_;
  std::uint64_t lines_ = 0;
  trace::Event event_;
  bool has_event_ = false;
  std::string error_;
};

// Merges the files by time. Clocks of different machines need not agree: the checker restores a
// causally possible order. The closer the clocks are, the less memory the checker needs.
class Merge {
 public:
  explicit Merge(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
      files_.push_back(std::make_unique<TraceFile>(path));
      for (std::size_t i = 0; i + 1 < files_.size() && error_.empty(); ++i) {
        if (files_[i]->is_same(*files_.back())) twice(files_.size() - 1, i);
      }
    }
    for (std::size_t i = 0; i < files_.size(); ++i) advance(i);
    for (std::size_t i = 0; i < files_.size() && error_.empty(); ++i) {
      if (!files_[i]->has_event()) continue;
      const trace::Event& first = files_[i]->event();
      if (first.kind == trace::Kind::start) note_order(i, first);
    }
  }

  const trace::Event* next() {
    if (current_.has_value()) advance(*current_);
    current_.reset();
    if (heads_.empty() || !error_.empty()) return nullptr;
    current_ = heads_.top().second;
    heads_.pop();
    const trace::Event& event = files_[*current_]->event();
    if (event.kind == trace::Kind::start) {
      note_order(*current_, event);
      if (!error_.empty()) return nullptr;
      const auto [owner, first] = owners_.emplace(event.node, *current_);
      if (!first && owner->second != *current_) return twice(*current_, owner->second), nullptr;
    }
    return &event;
  }

  trace::Names& names() { return names_; }
  /// The engine in the start events that were read; nothing if no start event was read.
  std::optional<std::string_view> engine() const {
    if (!engine_) return std::nullopt;
    return engine_->first;
  }
  /// The first file that named the engine.
  const std::string& engine_file() const { return files_[engine_->second]->path(); }
  /// The nodes of each domain, from the start events that were read; see Options::domains.
  std::vector<std::vector<NodeId>> domains() const {
    std::vector<std::vector<NodeId>> all;
    for (const auto& [node, domains] : domains_) {
      for (const DomainId domain : domains) {
        if (all.size() < domain) all.resize(domain);
        all[domain - 1U].push_back(node);
      }
    }
    return all;
  }
  const std::string& error() const { return error_; }
  void count(FilesReport& report) const {
    for (const auto& file : files_) {
      report.lines += file->lines();
      if (file->cut()) ++report.cut_lines;
    }
  }

 private:
  using Head = std::pair<std::int64_t, std::size_t>;  // time, index of the file

  void advance(std::size_t i) {
    TraceFile& file = *files_[i];
    if (file.next(names_)) {
      heads_.emplace(file.event().at_ns, i);
    } else if (error_.empty()) {
      error_ = file.error();
    }
  }

  // Notes engine and domains. All incarnations of a node must be in the same domains, because the
  // node's log holds the values of these domains.
  void note_order(std::size_t i, const trace::Event& start) {
    note_engine(i, start.engine.empty() ? trace::kUnnamedEngine : start.engine);
    const auto [known, fresh] = domains_.emplace(start.node.node, start.domains);
    if (known->second == start.domains || !error_.empty()) return;
    error_ = files_[i]->path() + ":" + std::to_string(files_[i]->lines()) +
             ": this node was in other domains before: accepted are traces of one cluster";
  }

  // Engines give different guarantees, so all traces of a history must be of one engine.
  void note_engine(std::size_t i, std::string_view engine) {
    if (!engine_) engine_ = {std::string(engine), i};
    if (engine_->first == engine) return;
    error_ = files_[i]->path() + ":" + std::to_string(files_[i]->lines()) + ": ordered by " +
             std::string(engine) + ", and " + files_[engine_->second]->path() + " by " +
             engine_->first + ": accepted are traces of one cluster";
  }

  // Sets the error for a trace that is given twice, as the same file or as a copy. Without this
  // error, each repeated event would be a violation.
  void twice(std::size_t i, std::size_t earlier) {
    const std::string& path = files_[i]->path();
    const std::string& other = files_[earlier]->path();
    error_ = path + (path == other ? " is there twice" : " has the events of " + other) +
             ": accepted is each trace once";
  }

  trace::Names names_;
  std::vector<std::unique_ptr<TraceFile>> files_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::optional<std::pair<std::string, std::size_t>> engine_;  // name, and its first file
  std::map<NodeId, DomainSet> domains_;                        // by node
  std::map<MemberId, std::size_t> owners_;  // by process: the file of its start event
  std::optional<std::size_t> current_;
  std::string error_;
};

}  // namespace

Options file_options() {
  Options options;
  options.live_order = false;
  options.truncated_ok = true;
  return options;
}

Result<FilesReport, std::string> check_files(std::span<const std::string> paths,
                                             const Options& options) {
  Merge merge(paths);
  Options for_order = options;
  for_order.layer = trace::Layer::order;
  for_order.names = &merge.names();
  if (merge.engine()) {
    const order::Descriptor* engine = order::find_engine(*merge.engine());
    if (engine == nullptr) {
      return unexpected(merge.engine_file() + ": ordered by " + std::string(*merge.engine()) +
                        ", which this program does not know: accepted is " + order::engine_names());
    }
    for_order.quorum = engine->traits.quorum;
    for_order.companies = engine->traits.companies;
    for_order.genuine = engine->traits.genuine;
  }
  for_order.domains = merge.domains();
  Options for_unit = for_order;
  for_unit.layer = trace::Layer::unit;
  Checker order(for_order);
  Checker unit(for_unit);
  while (const trace::Event* event = merge.next()) {
    order.add(*event);
    unit.add(*event);
  }
  if (!merge.error().empty()) return unexpected(merge.error());
  FilesReport report;
  report.order = order.finish();
  report.unit = unit.finish();
  merge.count(report);
  return report;
}

}  // namespace peal::oracle
