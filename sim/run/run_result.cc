// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run_result.h"

#include <cstring>

#include "base/assert.h"

namespace peal::sim {
namespace {

class Encoder {
 public:
  void number(std::uint64_t value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    out_.append(bytes, sizeof value);
  }
  void text(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  const std::string& bytes() const { return out_; }

 private:
  std::string out_;
};

class Decoder {
 public:
  explicit Decoder(const std::string& in) : in_(in) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    PEAL_ASSERT(in_.size() - at_ >= sizeof value);
    std::memcpy(&value, in_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    PEAL_ASSERT(in_.size() - at_ >= size);
    std::string value = in_.substr(at_, size);
    at_ += size;
    return value;
  }

 private:
  const std::string& in_;
  std::size_t at_ = 0;
};

}  // namespace

std::string encode(const RunResult& finding) {
  Figures figures = finding.figures;
  Encoder out;
  out.number(finding.index);
  out.text(finding.property);
  out.text(finding.text);
  each_figure(figures, [&out](const char*, std::uint64_t value) { out.number(value); });
  for (std::size_t i = 0; i < kFaults; ++i) out.number(finding.faults.of(static_cast<Fault>(i)));
  out.number(finding.probes.size());
  for (const auto& [name, hits] : finding.probes) {
    out.text(name);
    out.number(hits);
  }
  out.number(finding.digest);
  out.number(static_cast<std::uint64_t>(finding.seconds * 1e9));
  return out.bytes();
}

RunResult decode(const std::string& bytes) {
  Decoder in(bytes);
  RunResult finding;
  finding.index = in.number();
  finding.property = in.text();
  finding.text = in.text();
  each_figure(finding.figures, [&in](const char*, std::uint64_t& value) { value = in.number(); });
  for (std::size_t i = 0; i < kFaults; ++i) finding.faults.add(static_cast<Fault>(i), in.number());
  for (std::uint64_t n = in.number(); n > 0; --n) {
    const std::string name = in.text();
    finding.probes[name] = in.number();
  }
  finding.digest = in.number();
  finding.seconds = static_cast<double>(in.number()) / 1e9;
  return finding;
}

}  // namespace peal::sim
