// SPDX-License-Identifier: Apache-2.0
#include "history_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/digest.h"
#include "trace/words.h"

namespace peal::oracle::test {
namespace {

using trace::Event;
using trace::Kind;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool read_number(std::string_view text, std::uint64_t& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc() && end == text.data() + text.size();
}

struct TextPosition {
  Seq seq = 0;
  std::uint32_t index = 0;
};

struct TextMessage {
  trace::MessageId id;
  Service service = Service::agreed;
  std::optional<TextPosition> position;
  DomainSet domains;
};

struct Process {
  ViewId view{};
  bool transitional = false;
  std::uint64_t submitted = 0;
};

// Options that may follow the messages of a line.
struct Extras {
  std::vector<std::string_view> messages;
  std::optional<TextPosition> position;
  std::optional<Service> service;
  std::optional<ViewId> view;
  std::optional<bool> transitional;
  std::optional<MemberId> from;
  std::optional<DomainSet> domains;
  bool other_bytes = false;
  bool as_guessed = false;
  std::uint64_t set = 0;
};

// Reads the lines of one history twice. The first pass learns the place of each message, because a
// merged history may deliver a message above the line that originates it.
class HistoryReader {
 public:
  explicit HistoryReader(TextHistory& out) : out_(out) {}

  void begin_pass(bool emit) {
    emit_ = emit;
    processes_.clear();
    next_.clear();
  }

  std::string error;

  void line(std::size_t number, std::string_view text) {
    at_ns_ = static_cast<std::int64_t>(number);
    const std::vector<std::string_view> words = split(text, ' ');
    if (header(words, text)) return;
    if (words.size() < 2) return fail("a line needs a process and a verb");
    for (const std::string_view who : split(words[0], ',')) {
      const MemberId member = parse_member(who);
      if (error.empty()) act(member, words);
    }
  }

 private:
  void fail(const std::string& what) {
    if (error.empty()) error = what;
  }

  bool header(const std::vector<std::string_view>& words, std::string_view text) {
    if (words[0] == "breaks") {
      for (std::size_t i = 1; i < words.size(); ++i) out_.breaks.emplace(words[i]);
    } else if (words[0] == "says") {
      if (emit_) out_.says.emplace_back(text.substr(text.find(' ') + 1));
    } else if (text == "live only") {
      out_.live_only = true;
    } else if (text == "merged only") {
      out_.merged_only = true;
    } else if (text == "as written") {
      out_.as_written = true;
    } else if (text == "quorum") {
      out_.quorum = true;
    } else if (text == "companies") {
      out_.companies = true;
    } else if (words[0] == "genuine") {
      if (!emit_) read_domains(words);
    } else if (text == "cut") {
      out_.cut = true;
    } else if (text == "layer unit") {
      out_.layer = trace::Layer::unit;
    } else if (words[0] == "universe" && words.size() == 2) {
      std::uint64_t size = 0;
      if (!read_number(words[1], size)) fail("universe needs a number");
      out_.universe = static_cast<std::uint32_t>(size);
    } else {
      return false;
    }
    return true;
  }

  void read_domains(const std::vector<std::string_view>& words) {
    out_.genuine = true;
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::vector<NodeId>& nodes = out_.domains.emplace_back();
      for (const MemberId& each : parse_members(words[i])) nodes.push_back(each.node);
    }
  }

  DomainSet parse_domains(std::string_view text) {
    DomainSet domains;
    for (const std::string_view part : split(text, ',')) {
      std::uint64_t domain = 0;
      if (!read_number(part, domain) || domain == 0 || domain > kDomainMax) {
        fail("'" + std::string(part) + "' is not a domain");
      }
      domains.add(static_cast<DomainId>(domain));
    }
    return domains;
  }

  // A member is a letter; a number behind the letter means a later incarnation.
  MemberId parse_member(std::string_view text) {
    std::uint64_t epoch = 1;
    const bool fine = !text.empty() && text[0] >= 'a' && text[0] <= 'z' &&
                      (text.size() == 1 || read_number(text.substr(1), epoch));
    if (!fine) fail("'" + std::string(text) + "' is not a process");
    return {out_.names.intern(fine ? text.substr(0, 1) : "x"), epoch};
  }

  std::vector<MemberId> parse_members(std::string_view text) {
    std::vector<MemberId> members;
    for (const std::string_view part : split(text, ',')) members.push_back(parse_member(part));
    return members;
  }

  ViewId parse_view(std::string_view text) {
    const std::size_t at = text.find('@');
    ViewId id;
    if (!read_number(text.substr(0, at), id.number)) {
      fail("'" + std::string(text) + "' is not a view");
    }
    id.representative = parse_member(at == std::string_view::npos ? "a" : text.substr(at + 1));
    return id;
  }

  TextPosition parse_position(std::string_view text) {
    const std::size_t plus = text.find('+');
    TextPosition position;
    std::uint64_t index = 0;
    if (!read_number(text.substr(0, plus), position.seq) ||
        (plus != std::string_view::npos && !read_number(text.substr(plus + 1), index))) {
      fail("'" + std::string(text) + "' is not a position");
    }
    position.index = static_cast<std::uint32_t>(index);
    return position;
  }

  void act(MemberId member, const std::vector<std::string_view>& words) {
    const std::string_view verb = words[1];
    if (verb == "start" || verb == "crash" || verb == "leave") {
      const bool optimistic = verb == "start" && words.size() == 3 && words[2] == "optimistic";
      if (words.size() != 2 && !optimistic) {
        return fail("nothing may follow '" + std::string(verb) + "'");
      }
      Event event = make(member, verb == "start"   ? Kind::start
                                 : verb == "crash" ? Kind::crash
                                                   : Kind::leave);
      event.layer = trace::Layer::order;
      event.optimistic = optimistic;
      return emit(event);
    }
    if (verb == "reg") return regular(member, words);
    if (verb == "trans") return transitional(member, words);
    Extras extras;
    if (!parse_extras(words, extras)) return;
    if (verb == "submit") return submit(member, extras);
    if (verb == "orig") return originate(member, extras);
    if (verb == "send") {
      if (out_.layer == trace::Layer::order) submit(member, extras);
      return originate(member, extras);
    }
    if (verb == "dlv") return deliver(member, Kind::deliver, extras);
    if (verb == "early") return deliver(member, Kind::early, extras);
    fail("unknown verb '" + std::string(verb) + "'");
  }

  void regular(MemberId member, const std::vector<std::string_view>& words) {
    if (words.size() < 4 || words.size() > 5) return fail("reg needs a view and members");
    Event event = make(member, Kind::view);
    event.view = parse_view(words[2]);
    event.members = parse_members(words[3]);
    if (words.size() == 5) {
      if (words[4] != "primary" && words[4] != "minor") return fail("primary or minor");
      event.primary = words[4] == "primary" ? trace::Claim::yes : trace::Claim::no;
    }
    processes_[member].view = event.view;
    processes_[member].transitional = false;
    emit(event);
  }

  void transitional(MemberId member, const std::vector<std::string_view>& words) {
    const std::size_t arrow = words.size() == 4 ? words[2].find('>') : std::string_view::npos;
    if (arrow == std::string_view::npos) return fail("trans needs two views and members");
    Event event = make(member, Kind::view);
    event.transitional = true;
    event.old = parse_view(words[2].substr(0, arrow));
    event.view = parse_view(words[2].substr(arrow + 1));
    event.members = parse_members(words[3]);
    processes_[member].transitional = true;
    emit(event);
  }

  bool parse_extras(const std::vector<std::string_view>& words, Extras& out) {
    for (std::size_t i = 2; i < words.size() && error.empty(); ++i) {
      const std::string_view word = words[i];
      const auto service =
          std::find(trace::kServiceWords.begin(), trace::kServiceWords.end(), word);
      const bool more = i + 1 < words.size();
      if (service != trace::kServiceWords.end()) {
        out.service = static_cast<Service>(service - trace::kServiceWords.begin());
      } else if (word.starts_with('@')) {
        out.position = parse_position(word.substr(1));
      } else if (word == "in" && more) {
        ++i;
        if (words[i] == "reg" || words[i] == "trans") {
          out.transitional = words[i] == "trans";
        } else if (words[i] == "none") {
          out.view = ViewId{};
        } else {
          out.view = parse_view(words[i]);
        }
      } else if (word == "from" && more) {
        out.from = parse_member(words[++i]);
      } else if (word == "to" && more) {
        out.domains = parse_domains(words[++i]);
      } else if (word == "as" && more && words[i + 1] == "guessed") {
        ++i;
        out.as_guessed = true;
      } else if (word == "set" && more) {
        if (!read_number(words[++i], out.set)) fail("a set has a number");
      } else if (word == "other" && more && words[i + 1] == "bytes") {
        ++i;
        out.other_bytes = true;
      } else {
        out.messages.push_back(word);
      }
    }
    if (out.messages.empty()) fail("which message?");
    return error.empty();
  }

  // The message with this name. A new name means the sender's next message, or the message whose
  // number follows `#`.
  TextMessage& message(MemberId sender, std::string_view name, const Extras& extras) {
    const std::size_t hash = name.find('#');
    const auto [found, fresh] = messages_.try_emplace(std::string(name.substr(0, hash)));
    TextMessage& message = found->second;
    if (fresh) {
      message.id.sender = extras.from.value_or(sender);
      message.id.number = ++processes_[message.id.sender].submitted;
      if (hash != std::string_view::npos &&
          !read_number(name.substr(hash + 1), message.id.number)) {
        fail("'" + std::string(name) + "' has no number");
      }
      message.service = extras.service.value_or(Service::agreed);
      message.domains = extras.domains.value_or(DomainSet());
    }
    return message;
  }

  Event make_message(MemberId member, Kind kind, const TextMessage& message, std::string_view name,
                     const Extras& extras) {
    Event event = make(member, kind);
    event.message = message.id;
    if (extras.from.has_value()) event.message.sender = *extras.from;
    event.service = extras.service.value_or(message.service);
    event.domains = extras.domains.value_or(message.domains);
    event.hash = digest_of(as_bytes_view(name.substr(0, name.find('#'))));
    if (extras.other_bytes) ++event.hash;
    return event;
  }

  void submit(MemberId member, const Extras& extras) {
    for (const std::string_view name : extras.messages) {
      const TextMessage& known = message(member, name, extras);
      Event event = make_message(member, Kind::submit, known, name, extras);
      event.bytes = name.size();
      emit(event);
    }
  }

  void originate(MemberId member, const Extras& extras) {
    for (const std::string_view name : extras.messages) {
      TextMessage& known = message(member, name, extras);
      Event event = make_message(member, Kind::originate, known, name, extras);
      event.view = extras.view.value_or(processes_[member].view);
      Seq& next = next_[event.view];
      const Seq usual = has_no_place(event.service) ? 0 : next + 1;
      const TextPosition position = extras.position.value_or(TextPosition{usual, 0});
      next = std::max(next, position.seq);
      if (!known.position.has_value()) known.position = position;
      event.seq = position.seq;
      event.index = position.index;
      if (out_.layer == trace::Layer::order) event.hash = 0;
      emit(event);
    }
  }

  void deliver(MemberId member, Kind kind, const Extras& extras) {
    if (!emit_) return;
    for (const std::string_view name : extras.messages) {
      const bool known = messages_.contains(std::string(name.substr(0, name.find('#'))));
      if (!known && !(extras.from.has_value() && extras.position.has_value())) {
        return fail("nobody sends '" + std::string(name) + "': say from whom, and @ where");
      }
      TextMessage& sent = message(member, name, extras);
      if (out_.genuine && !sent.position.has_value()) sent.position = extras.position;
      std::optional<TextPosition> position =
          extras.position.has_value() ? extras.position : sent.position;
      if (!position.has_value() && has_no_place(sent.service)) position = TextPosition{};
      if (!position.has_value()) return fail("'" + std::string(name) + "' needs a position");
      Event event = make_message(member, kind, sent, name, extras);
      event.view = extras.view.value_or(processes_[member].view);
      event.transitional =
          kind == Kind::deliver && extras.transitional.value_or(processes_[member].transitional);
      event.as_guessed = kind == Kind::deliver && extras.as_guessed;
      event.set = kind == Kind::deliver ? extras.set : 0;
      event.seq = position->seq;
      event.index = position->index;
      emit(event);
    }
  }

  bool has_no_place(Service service) const {
    return out_.companies && (service == Service::fifo || service == Service::causal);
  }

  Event make(MemberId member, Kind kind) const {
    Event event;
    event.kind = kind;
    event.layer = out_.layer;
    event.at_ns = at_ns_;
    event.node = member;
    return event;
  }

  void emit(const Event& event) {
    if (emit_) out_.events.push_back(event);
  }

  TextHistory& out_;
  bool emit_ = false;
  std::int64_t at_ns_ = 0;
  std::map<MemberId, Process> processes_;
  std::map<ViewId, Seq> next_;
  std::map<std::string, TextMessage, std::less<>> messages_;
};

struct Line {
  std::size_t number;
  std::string_view text;
};

std::string read_history(TextHistory& history, const std::vector<Line>& lines) {
  HistoryReader reader(history);
  for (const bool emit : {false, true}) {
    reader.begin_pass(emit);
    for (const Line& line : lines) {
      reader.line(line.number, line.text);
      if (!reader.error.empty()) {
        return history.file + ":" + std::to_string(line.number) + ": " + reader.error;
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<TextHistory>, std::string> parse_histories(std::string_view text,
                                                              std::string_view file) {
  std::vector<TextHistory> histories;
  std::vector<std::vector<Line>> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("history ")) {
      histories.emplace_back();
      histories.back().title = line.substr(8);
      histories.back().file = file;
      histories.back().line = number;
      lines.emplace_back();
    } else if (histories.empty()) {
      return unexpected(std::string(file) + ":" + std::to_string(number) + ": no history yet");
    } else {
      lines.back().push_back({number, line});
    }
  }
  for (std::size_t i = 0; i < histories.size(); ++i) {
    std::string error = read_history(histories[i], lines[i]);
    if (!error.empty()) return unexpected(std::move(error));
  }
  return histories;
}

}  // namespace peal::oracle::test
