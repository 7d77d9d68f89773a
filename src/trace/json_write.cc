// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <limits>

#include "trace/json.h"
#include "trace/words.h"

namespace peal::trace {
namespace {

template <class Integer>
void put_number(std::string& out, Integer value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

void put_hash(std::string& out, std::uint64_t hash) {
  std::array<char, 16> digits;
  for (std::size_t i = digits.size(); i > 0; --i) {
    digits[i - 1] = "0123456789abcdef"[hash & 15U];
    hash >>= 4U;
  }
  out.append(digits.data(), digits.size());
}

void put(std::string& out, const MemberId& id, const Names& names) {
  names.append(out, id.node);
  out += '.';
  put_number(out, id.epoch);
}

void put(std::string& out, const MessageId& id, const Names& names) {
  put(out, id.sender, names);
  out += ':';
  put_number(out, id.number);
}

void put(std::string& out, const ViewId& id, const Names& names) {
  put_number(out, id.number);
  out += '@';
  put(out, id.representative, names);
}

// Appends `,"key":"` and leaves the closing quote to the caller.
void open_text(std::string& out, std::string_view key) {
  out += ",\"";
  out += key;
  out += "\":\"";
}

void put_text(std::string& out, std::string_view key, std::string_view text) {
  open_text(out, key);
  out += text;
  out += '"';
}

template <class Id>
void put_id(std::string& out, std::string_view key, const Id& id, const Names& names) {
  open_text(out, key);
  put(out, id, names);
  out += '"';
}

template <class Integer>
void put_integer(std::string& out, std::string_view key, Integer value) {
  out += ",\"";
  out += key;
  out += "\":";
  put_number(out, value);
}

void put_hash_key(std::string& out, const Event& event) {
  open_text(out, "hash");
  put_hash(out, event.hash);
  out += '"';
}

void put_domains(std::string& out, DomainSet domains) {
  if (domains.empty()) return;
  out += ",\"domains\":[";
  bool first = true;
  for (const DomainId domain : domains) {
    if (!first) out += ',';
    put_number(out, std::uint32_t{domain});
    first = false;
  }
  out += ']';
}

void put_submit(std::string& out, const Event& event, const Names& names) {
  put_id(out, "msg", event.message, names);
  put_text(out, "service", word_of(event.service));
  put_domains(out, event.domains);
  put_hash_key(out, event);
  put_integer(out, "bytes", event.bytes);
}

// The keys that `originate`, `deliver` and `early` share.
void put_placed(std::string& out, const Event& event, const Names& names) {
  put_id(out, "msg", event.message, names);
  const bool in_view = event.kind != Kind::originate || event.view.number != 0;
  if (in_view) put_id(out, "view", event.view, names);
  put_integer(out, "seq", event.seq);
  if (event.index != 0) put_integer(out, "index", event.index);
  put_domains(out, event.domains);
  put_text(out, "service", word_of(event.service));
}

void put_view(std::string& out, const Event& event, const Names& names) {
  open_text(out, "view");
  if (event.transitional) {
    put(out, event.old, names);
    out += '>';
  }
  put(out, event.view, names);
  out += '"';
  put_text(out, "kind", event.transitional ? kTransitional : kRegular);
  if (event.transitional) {
    put_id(out, "old", event.old, names);
    put_id(out, "new", event.view, names);
  }
  out += ",\"members\":[";
  bool first = true;
  for (const MemberId& member : event.members) {
    out += first ? "\"" : ",\"";
    put(out, member, names);
    out += '"';
    first = false;
  }
  out += ']';
  if (event.primary != Claim::absent) {
    out += event.primary == Claim::yes ? ",\"primary\":true" : ",\"primary\":false";
  }
}

void put_details(std::string& out, const Event& event, const Names& names) {
  switch (event.kind) {
    case Kind::start:
      if (!event.engine.empty() && event.engine != kUnnamedEngine) {
        put_text(out, "order", event.engine);
      }
      if (event.optimistic) out += ",\"optimistic\":true";
      put_domains(out, event.domains);
      break;
    case Kind::crash:
    case Kind::leave: break;
    case Kind::submit: put_submit(out, event, names); break;
    case Kind::originate:
      put_placed(out, event, names);
      if (event.layer == Layer::unit) put_hash_key(out, event);
      break;
    case Kind::deliver:
      put_placed(out, event, names);
      if (event.transitional) out += ",\"transitional\":true";
      if (event.as_guessed) out += ",\"as_guessed\":true";
      if (event.set != 0) {
        out += ",\"set\":";
        put_number(out, event.set);
      }
      put_hash_key(out, event);
      break;
    case Kind::early:
      put_placed(out, event, names);
      put_hash_key(out, event);
      break;
    case Kind::view: put_view(out, event, names); break;
    case Kind::lost:
      out += ",\"lines\":";
      put_number(out, event.lines);
      break;
  }
}

}  // namespace

void append_json(std::string& out, const Event& event, const Names& names) {
  out += "{\"at\":";
  put_number(out, event.at_ns);
  put_text(out, "layer", word_of(event.layer));
  put_text(out, "ev", word_of(event.kind));
  put_id(out, "node", event.node, names);
  put_details(out, event, names);
  out += "}\n";
}

std::string text_of(const MemberId& id, const Names& names) {
  std::string out;
  put(out, id, names);
  return out;
}

std::string text_of(const MessageId& id, const Names& names) {
  std::string out;
  put(out, id, names);
  return out;
}

std::string text_of(const ViewId& id, const Names& names) {
  std::string out;
  put(out, id, names);
  return out;
}

}  // namespace peal::trace
