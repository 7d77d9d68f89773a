// SPDX-License-Identifier: Apache-2.0
#include "daemon/node_log.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace peal::daemon {
namespace {

using Json = nlohmann::ordered_json;

std::string wall_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  char text[64];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text;
}

/// The text of a value after '='. A value that is not a plain word is quoted as in JSON.
std::string value_text(const std::string& value) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
  return plain ? value : Json(value).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string whole_line(bool json, std::string_view name,
                       std::initializer_list<NodeLog::Field> fields) {
  const std::string rest = NodeLog::line(json, name, fields);
  if (json) return "{\"at\":\"" + wall_time() + "\"," + rest.substr(1) + "\n";
  return "at=" + wall_time() + " " + rest + "\n";
}

}  // namespace

Result<NodeLog, io::IoError> NodeLog::open(bool json, int fd) {
  auto writer = io::LineWriter::open(fd, [json](std::uint64_t lines) {
    return whole_line(
        json, "lines_dropped",
        {{"count", std::to_string(lines)},
         {"reason", std::to_string(lines) + " log lines were dropped: nobody read them, or the "
                                            "disk or pipe was full where they go"}});
  });
  if (!writer) return unexpected(writer.error());
  return NodeLog(json, std::move(*writer));
}

std::string NodeLog::line(bool json, std::string_view name, std::initializer_list<Field> fields) {
  if (json) {
    Json out;
    out["event"] = name;
    for (const auto& [key, value] : fields) out[std::string(key)] = value;
    return out.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string text = "event=" + std::string(name);
  for (const auto& [key, value] : fields) text += " " + std::string(key) + "=" + value_text(value);
  return text;
}

void NodeLog::event(std::string_view name, std::initializer_list<Field> fields) const {
  writer_->write(whole_line(json_, name, fields));
}

void NodeLog::limited(std::int64_t now_ns, std::string_view name,
                      std::initializer_list<Field> fields) {
  if (now_ns - period_began_ >= kPeriodNs) {
    period_began_ = now_ns;
    lines_ = 0;
    if (left_out_ > 0) event("lines_left_out", {{"count", std::to_string(left_out_)}});
    left_out_ = 0;
  }
  if (lines_ >= kLinesMax) {
    ++left_out_;
    return;
  }
  ++lines_;
  event(name, fields);
}

}  // namespace peal::daemon
