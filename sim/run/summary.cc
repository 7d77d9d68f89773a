// SPDX-License-Identifier: Apache-2.0
#include "sim/run/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace peal::sim {
namespace {

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string decimals(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

}  // namespace

void Summary::add(const RunResult& result) {
  ++seeds;
  if (!result.property.empty()) {
    ++violations;
    const auto place =
        std::upper_bound(failures.begin(), failures.end(), result,
                         [](const RunResult& a, const RunResult& b) { return a.index < b.index; });
    failures.insert(place, result);
  }
  Figures more = result.figures;
  std::vector<std::uint64_t> values;
  each_figure(more, [&values](const char*, std::uint64_t value) { values.push_back(value); });
  std::size_t i = 0;
  each_figure(figures, [&](const char*, std::uint64_t& value) { value += values[i++]; });
  for (std::size_t f = 0; f < kFaults; ++f) {
    faults.add(static_cast<Fault>(f), result.faults.of(static_cast<Fault>(f)));
  }
  for (const auto& [name, hits] : result.probes) probes[name] += hits;
}

std::string Summary::json() const {
  std::string out =
      "{\"violations\":" + std::to_string(violations) + ",\"seeds\":" + std::to_string(seeds);
  Figures all = figures;
  each_figure(all, [&out](const std::string& name, std::uint64_t value) {
    if (name != "virtual_ns") out += ",\"" + name + "\":" + std::to_string(value);
  });
  out += ",\"virtual_seconds\":" + decimals(static_cast<double>(figures.virtual_ns) / 1e9);
  out += ",\"seconds\":" + decimals(seconds);
  out +=
      ",\"seeds_per_second\":" + decimals(seconds > 0 ? static_cast<double>(seeds) / seconds : 0);
  out += ",\"faults\":{";
  for (std::size_t f = 0; f < kFaults; ++f) {
    out += std::string(f == 0 ? "" : ",") + "\"" + std::string(fault_name(static_cast<Fault>(f))) +
           "\":" + std::to_string(faults.of(static_cast<Fault>(f)));
  }
  out += "},\"probes\":{";
  bool first = true;
  for (const auto& [name, hits] : probes) {
    out += std::string(first ? "" : ",") + json_text(name) + ":" + std::to_string(hits);
    first = false;
  }
  out += "},\"failures\":[";
  for (std::size_t i = 0; i < failures.size(); ++i) {
    out += std::string(i == 0 ? "" : ",") + "{\"seed\":" + std::to_string(failures[i].index) +
           ",\"property\":" + json_text(failures[i].property) +
           ",\"text\":" + json_text(failures[i].text) + "}";
  }
  return out + "]}";
}

std::string Summary::text() const {
  std::string out;
  const auto row = [&out](const std::string& name, const std::string& value) {
    out += "  " + name + std::string(name.size() < 34 ? 34 - name.size() : 1, ' ') + value + "\n";
  };
  row("seeds", std::to_string(seeds));
  row("violations", std::to_string(violations));
  Figures all = figures;
  each_figure(all, [&row](std::string name, std::uint64_t value) {
    std::replace(name.begin(), name.end(), '_', ' ');
    if (name != "virtual ns") row(name, std::to_string(value));
  });
  row("simulated seconds", decimals(static_cast<double>(figures.virtual_ns) / 1e9));
  row("seconds", decimals(seconds));
  row("seeds per second", decimals(seconds > 0 ? static_cast<double>(seeds) / seconds : 0));
  row("events per second", std::to_string(static_cast<std::uint64_t>(
                               seconds > 0 ? static_cast<double>(figures.events) / seconds : 0)));
  out += "faults\n";
  for (std::size_t f = 0; f < kFaults; ++f) {
    row(std::string(fault_text(static_cast<Fault>(f))),
        std::to_string(faults.of(static_cast<Fault>(f))));
  }
  out += "rare branches\n";
  for (const auto& [name, hits] : probes) row(name, std::to_string(hits));
  for (const RunResult& failure : failures) {
    out += "seed " + std::to_string(failure.index) + ": " + failure.text + "\n";
  }
  return out;
}

}  // namespace peal::sim
