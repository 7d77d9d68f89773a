// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "trace/json.h"
#include "trace/words.h"

namespace peal::trace {
namespace {

using nlohmann::json;

// Reads the keys of one object and remembers the first error. After an error all results are empty,
// so that callers check for errors only once, after a block of keys.
class LineReader {
 public:
  LineReader(const json& object, Names& names) : object_(object), names_(names) {}

  bool failed() const { return !error_.empty(); }
  std::string take_error() { return std::move(error_); }
  void fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }

  bool has(const char* key) const { return object_.find(key) != object_.end(); }

  std::string_view text(const char* key) {
    const json* value = find(key);
    if (value == nullptr) return {};
    const auto* string = value->get_ptr<const std::string*>();
    if (string == nullptr) return wrong(key, "is not a string"), std::string_view{};
    return *string;
  }

  std::int64_t time(const char* key) {
    const json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number_integer() || !fits_signed(*value)) {
      return wrong(key, "is not a whole number of nanoseconds"), 0;
    }
    return *value->get_ptr<const std::int64_t*>();
  }

  std::uint64_t number(const char* key, std::uint64_t max) {
    const json* value = find(key);
    if (value == nullptr) return 0;
    const auto* number = value->get_ptr<const std::uint64_t*>();
    if (number == nullptr) return wrong(key, "is not a whole number from 0"), 0;
    if (*number > max) return wrong(key, "is too large"), 0;
    return *number;
  }

  bool flag(const char* key) {
    const json* value = find(key);
    if (value == nullptr) return false;
    const auto* flag = value->get_ptr<const bool*>();
    if (flag == nullptr) return wrong(key, "is neither true nor false"), false;
    return *flag;
  }

  std::uint64_t hash(const char* key) {
    const std::string_view digits = text(key);
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, value, 16);
    const bool lower =
        std::none_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; });
    if (digits.size() != 16 || stop != end || code != std::errc() || !lower) {
      wrong(key, "is not 16 lower-case hexadecimal digits");
    }
    return value;
  }

  /// The index of the key's value in `words`. The error text calls the value `what`.
  template <std::size_t N>
  std::size_t word(const char* key, const std::array<std::string_view, N>& words,
                   std::string_view what) {
    const std::string_view value = text(key);
    const auto found = std::find(words.begin(), words.end(), value);
    if (found == words.end()) {
      fail("unknown " + std::string(what) + " '" + shortened(value) + "'");
      return 0;
    }
    return static_cast<std::size_t>(found - words.begin());
  }

  /// The name of an engine. This program need not know the engine: another program may have written
  /// the trace.
  std::string engine(const char* key) {
    const std::string_view name = text(key);
    const bool right = !name.empty() && name.size() <= kEngineNameMax &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                       });
    if (!right) bad_id(key, name, "the name of an engine");
    return std::string(name);
  }

  MemberId member(const char* key) { return parse_member(key, text(key)); }

  MessageId message(const char* key) {
    const std::string_view value = text(key);
    const std::size_t colon = value.rfind(':');
    MessageId id;
    if (colon == std::string_view::npos || !decimal(value.substr(colon + 1), id.number)) {
      bad_id(key, value, "a message id such as 'a.1763:42'");
      return {};
    }
    id.sender = parse_member(key, value.substr(0, colon));
    return id;
  }

  ViewId view(const char* key) { return parse_view(key, text(key)); }

  /// Reads the views before and after a transitional view, e.g. `12@a.1763>13@b.99`.
  void transitional(const char* key, ViewId& old, ViewId& next) {
    const std::string_view value = text(key);
    const std::size_t arrow = value.find('>');
    if (arrow == std::string_view::npos) {
      bad_id(key, value, "a transitional view id such as '12@a.1763>13@b.99'");
      return;
    }
    old = parse_view(key, value.substr(0, arrow));
    next = parse_view(key, value.substr(arrow + 1));
  }

  /// Reads the optional key "domains", a list. Traces of earlier versions have the key "domain"
  /// instead, for a message to one domain.
  DomainSet domains() {
    if (!has("domains")) {
      if (!has("domain")) return {};
      return DomainSet::of(static_cast<DomainId>(number("domain", kDomainMax)));
    }
    const json* value = find("domains");
    if (value == nullptr) return {};
    if (!value->is_array()) return wrong("domains", "is not a list"), DomainSet{};
    DomainSet set;
    for (const json& item : *value) {
      const auto* number = item.get_ptr<const std::uint64_t*>();
      if (number == nullptr || *number < 1 || *number > kDomainMax) {
        return wrong("domains", "has an item that is not a number from 1 to 15"), DomainSet{};
      }
      set.add(static_cast<DomainId>(*number));
    }
    return set;
  }

  std::vector<MemberId> members(const char* key) {
    std::vector<MemberId> out;
    const json* value = find(key);
    if (value == nullptr) return out;
    if (!value->is_array()) return wrong(key, "is not a list"), out;
    out.reserve(value->size());
    for (const json& item : *value) {
      const auto* string = item.get_ptr<const std::string*>();
      if (string == nullptr) return wrong(key, "has an item that is not a string"), out;
      out.push_back(parse_member(key, *string));
    }
    return out;
  }

 private:
  static constexpr std::size_t kQuotedMax = 64;

  static std::string shortened(std::string_view text) {
    return text.size() <= kQuotedMax ? std::string(text)
                                     : std::string(text.substr(0, kQuotedMax)) + "...";
  }

  static bool fits_signed(const json& value) {
    const auto* number = value.get_ptr<const std::uint64_t*>();
    return number == nullptr ||
           *number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  }

  // Accepts only numbers as to_chars writes them: no sign, no leading zero.
  static bool decimal(std::string_view digits, std::uint64_t& value) {
    if (digits.empty() || digits.front() == '-' || (digits.size() > 1 && digits.front() == '0')) {
      return false;
    }
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, value);
    return stop == end && code == std::errc();
  }

  const json* find(const char* key) {
    if (failed()) return nullptr;
    const auto found = object_.find(key);
    if (found == object_.end()) return wrong(key, "is missing"), nullptr;
    return &*found;
  }

  void wrong(const char* key, std::string_view what) {
    fail("key '" + std::string(key) + "' " + std::string(what));
  }

  void bad_id(const char* key, std::string_view value, std::string_view wanted) {
    fail("key '" + std::string(key) + "' is '" + shortened(value) + "', not " +
         std::string(wanted));
  }

  MemberId parse_member(const char* key, std::string_view value) {
    if (failed()) return {};
    const std::size_t dot = value.rfind('.');
    MemberId id;
    if (dot == std::string_view::npos || !decimal(value.substr(dot + 1), id.epoch)) {
      bad_id(key, value, "a member id such as 'a.1763'");
      return {};
    }
    id.node = names_.intern(value.substr(0, dot));
    if (id.node == NodeId{}) bad_id(key, value, "the id of a node that can be named");
    return id;
  }

  ViewId parse_view(const char* key, std::string_view value) {
    if (failed()) return {};
    const std::size_t at = value.find('@');
    ViewId id;
    if (at == std::string_view::npos || !decimal(value.substr(0, at), id.number)) {
      bad_id(key, value, "a view id such as '12@a.1763'");
      return {};
    }
    id.representative = parse_member(key, value.substr(at + 1));
    return id;
  }

  const json& object_;
  Names& names_;
  std::string error_;
};

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kAny32 = std::numeric_limits<std::uint32_t>::max();

Service read_service(LineReader& in) {
  return static_cast<Service>(in.word("service", kServiceWords, "service"));
}

void read_placed(LineReader& in, Event& event) {
  event.message = in.message("msg");
  // A sender that does not deliver its message learns the place without a view.
  if (event.kind != Kind::originate || in.has("view")) event.view = in.view("view");
  event.seq = in.number("seq", kAny);
  if (in.has("index")) event.index = static_cast<std::uint32_t>(in.number("index", kAny32));
  event.domains = in.domains();
  event.service = read_service(in);
}

void read_view(LineReader& in, Event& event) {
  const std::string_view kind = in.text("kind");
  event.transitional = kind == kTransitional;
  if (event.transitional) {
    in.transitional("view", event.old, event.view);
    if (!(in.view("old") == event.old) || !(in.view("new") == event.view)) {
      in.fail("keys 'old' and 'new' do not agree with 'view'");
    }
  } else if (kind == kRegular) {
    event.view = in.view("view");
  } else {
    in.fail("unknown kind '" + std::string(kind) + "'");
  }
  event.members = in.members("members");
  if (in.has("primary")) event.primary = in.flag("primary") ? Claim::yes : Claim::no;
}

void read_details(LineReader& in, Event& event) {
  switch (event.kind) {
    case Kind::start:
      if (in.has("order")) event.engine = in.engine("order");
      if (in.has("optimistic")) event.optimistic = in.flag("optimistic");
      event.domains = in.domains();
      break;
    case Kind::crash:
    case Kind::leave: break;
    case Kind::submit:
      event.message = in.message("msg");
      event.service = read_service(in);
      event.domains = in.domains();
      event.hash = in.hash("hash");
      event.bytes = in.number("bytes", kAny);
      break;
    case Kind::originate:
      read_placed(in, event);
      if (event.layer == Layer::unit) event.hash = in.hash("hash");
      break;
    case Kind::deliver:
      read_placed(in, event);
      if (in.has("transitional")) event.transitional = in.flag("transitional");
      if (in.has("as_guessed")) event.as_guessed = in.flag("as_guessed");
      if (in.has("set")) event.set = in.number("set", kAny);
      event.hash = in.hash("hash");
      break;
    case Kind::early:
      read_placed(in, event);
      event.hash = in.hash("hash");
      break;
    case Kind::view: read_view(in, event); break;
    case Kind::lost: event.lines = in.number("lines", kAny); break;
  }
}

}  // namespace

Result<Event, std::string> parse_json(std::string_view line, Names& names) {
  if (line.size() > kLineBytesMax) return unexpected("the line is too long");
  const json object = json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return unexpected("the line is not JSON");
  if (!object.is_object()) return unexpected("the line is not a JSON object");
  LineReader in(object, names);
  Event event;
  event.at_ns = in.time("at");
  event.layer = static_cast<Layer>(in.word("layer", kLayerWords, "layer"));
  event.kind = static_cast<Kind>(in.word("ev", kKindWords, "ev"));
  event.node = in.member("node");
  if (!in.failed()) read_details(in, event);
  if (in.failed()) return unexpected(in.take_error());
  return event;
}

}  // namespace peal::trace
