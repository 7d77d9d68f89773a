// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_plan.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace peal::cli {
namespace {

using Json = nlohmann::json;

bool write_file(const std::string& path, const Json& content) {
  std::ofstream out(path, std::ios::trunc);
  out << content.dump();
  out.close();
  return static_cast<bool>(out);
}

Json read_file(const std::string& path) {
  std::ifstream in(path);
  return in ? Json::parse(in, nullptr, false) : Json();
}

}  // namespace

bool write_plan(const std::string& dir, const BenchPlan& plan) {
  return write_file(dir + "/plan.json", {{"nodes", plan.nodes},
                                         {"payload_bytes", plan.payload_bytes},
                                         {"safe", is_safe(plan.service)},
                                         {"rate", plan.rate},
                                         {"warm_up_s", plan.warm_up_s},
                                         {"seconds", plan.seconds}});
}

std::optional<BenchPlan> read_plan(const std::string& dir) {
  const Json in = read_file(dir + "/plan.json");
  if (!in.is_object()) return std::nullopt;
  BenchPlan plan;
  plan.nodes = in.at("nodes").get<std::uint32_t>();
  plan.payload_bytes = in.at("payload_bytes").get<std::uint32_t>();
  plan.service = in.at("safe").get<bool>() ? Service::safe : Service::agreed;
  plan.rate = in.at("rate").get<double>();
  plan.warm_up_s = in.at("warm_up_s").get<double>();
  plan.seconds = in.at("seconds").get<double>();
  return plan;
}

bool write_result(const std::string& dir, const std::string& name, const BenchResult& result) {
  Json out = {{"problem", result.problem},     {"sent", result.sent},
              {"delivered", result.delivered}, {"delivered_bytes", result.delivered_bytes},
              {"cpu_s", result.cpu_s},         {"latency_max_ns", result.latency_max_ns},
              {"views", Json::array()},        {"latency", Json::array()}};
  for (const BenchView& view : result.views) {
    out["views"].push_back({view.id, view.digest.value, view.digest.messages});
  }
  const auto& counts = result.latency_ns.counts();
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (counts[bucket] > 0) out["latency"].push_back({bucket, counts[bucket]});
  }
  return write_file(dir + "/" + name + ".json", out);
}

std::optional<BenchResult> read_result(const std::string& dir, const std::string& name) {
  const Json in = read_file(dir + "/" + name + ".json");
  if (!in.is_object()) return std::nullopt;
  BenchResult result;
  result.problem = in.at("problem").get<std::string>();
  result.sent = in.at("sent").get<std::uint64_t>();
  result.delivered = in.at("delivered").get<std::uint64_t>();
  result.delivered_bytes = in.at("delivered_bytes").get<std::uint64_t>();
  result.cpu_s = in.at("cpu_s").get<double>();
  result.latency_max_ns = in.at("latency_max_ns").get<std::uint64_t>();
  for (const Json& view : in.at("views")) {
    BenchView out;
    out.id = view.at(0).get<std::string>();
    out.digest.value = view.at(1).get<std::uint64_t>();
    out.digest.messages = view.at(2).get<std::uint64_t>();
    result.views.push_back(std::move(out));
  }
  for (const Json& bucket : in.at("latency")) {
    result.latency_ns.add_bucket(bucket.at(0).get<std::uint32_t>(),
                                 bucket.at(1).get<std::uint64_t>());
  }
  return result;
}

}  // namespace peal::cli
