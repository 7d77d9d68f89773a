// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace_log.h"

#include <utility>

#include "base/digest.h"
#include "io/clock.h"
#include "trace/json.h"

namespace peal::runtime {

Result<std::unique_ptr<TraceLog>, io::IoError> TraceLog::open(const std::string& path,
                                                              const trace::Names& names,
                                                              Order order) {
  std::unique_ptr<TraceLog> log(new TraceLog(names, order));
  auto file =
      io::FileSink::open(path, io::FileSink::Mode::append,
                         [raw = log.get()](std::uint64_t lines) { return raw->lost(lines); });
  if (!file) return unexpected(file.error());
  log->file_ = std::move(*file);
  return log;
}

std::string TraceLog::lost(std::uint64_t lines) const {
  trace::Event line = event(trace::Kind::lost);
  line.lines = lines;
  std::string text;
  trace::append_json(text, line, names_);
  return text;
}

void TraceLog::start(MemberId self) {
  self_ = self;
  trace::Event line = event(trace::Kind::start);
  line.engine = order_.engine;
  line.optimistic = order_.optimistic;
  line.domains = order_.own_domains;
  write(line);
}

void TraceLog::submit(std::uint64_t number, Service service, ByteView payload, DomainSet domains) {
  trace::Event line = event(trace::Kind::submit);
  line.message = {self_, number};
  line.service = service;
  line.domains = domains;
  line.hash = digest_of(payload);
  line.bytes = payload.size();
  // Before the first view, the incarnation may change, and the message's name contains it.
  if (named_) {
    write(line);
  } else {
    unnamed_.push_back(line);
  }
}

void TraceLog::originate(const node::Origination& placed) {
  confirm_self();
  trace::Event line = event(trace::Kind::originate);
  line.message = {self_, placed.number};
  line.service = placed.service;
  line.domains = placed.domains;
  line.view = placed.view;
  line.seq = placed.seq;
  line.index = placed.index;
  write(line);
}

void TraceLog::deliver(const node::Message& message) {
  trace::Event line = of_message(trace::Kind::deliver, message);
  line.transitional = message.transitional;
  line.as_guessed = message.as_guessed;
  line.set = message.set;
  write(line);
}

void TraceLog::early(const node::Message& message) {
  write(of_message(trace::Kind::early, message));
}

/// Writes the submissions that waited for the final incarnation.
void TraceLog::confirm_self() {
  if (std::exchange(named_, true)) return;
  for (trace::Event& line : unnamed_) {
    line.node = line.message.sender = self_;
    write(line);
  }
  unnamed_ = {};
}

void TraceLog::view(const order::View& view) {
  confirm_self();
  trace::Event line = event(trace::Kind::view);
  line.transitional = view.transitional;
  line.view = view.id;
  if (view.transitional) line.old = view.old;
  line.members.assign(view.members.begin(), view.members.end());
  if (view.primary != order::Primary::unclaimed) {
    line.primary = view.primary == order::Primary::yes ? trace::Claim::yes : trace::Claim::no;
  }
  write(line);
}

void TraceLog::leave() { write(event(trace::Kind::leave)); }

void TraceLog::flush() {
  if (text_.empty()) return;
  file_->append(text_);
  text_.clear();
  ignore(file_->flush(), "take_error() tells it");
}

std::optional<io::IoError> TraceLog::take_error() {
  if (told_ || !file_->error()) return std::nullopt;
  told_ = true;
  return file_->error();
}

trace::Event TraceLog::event(trace::Kind kind) const {
  trace::Event line;
  line.kind = kind;
  line.at_ns = io::Clock::now().ns;
  line.node = self_;
  return line;
}

trace::Event TraceLog::of_message(trace::Kind kind, const node::Message& message) const {
  trace::Event line = event(kind);
  line.message = {message.sender, message.number};
  line.service = message.service;
  line.hash = digest_of(message.payload);
  line.view = message.view;
  line.seq = message.seq;
  line.index = message.index;
  line.domains = message.domains;
  return line;
}

void TraceLog::write(const trace::Event& event) { trace::append_json(text_, event, names_); }

}  // namespace peal::runtime
