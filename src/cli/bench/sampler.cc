// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sampler.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace peal::cli {
namespace {

constexpr int kSamples = 20;
constexpr std::array<std::string_view, 17> kGauges = {"global_window",
                                                      "personal_window",
                                                      "accelerated_percent",
                                                      "node_queued_messages",
                                                      "node_queued_bytes",
                                                      "quorum_window",
                                                      "quorum_member_window",
                                                      "quorum_round",
                                                      "quorum_acceptors",
                                                      "quorum_acceptors_heard",
                                                      "quorum_instances_ahead",
                                                      "ensembles",
                                                      "ensembles_waiting",
                                                      "opt_wait_us",
                                                      "quorum_links_failing",
                                                      "domain_leads",
                                                      "domain_round"};

bool is_gauge(std::string_view name) {
  return std::find(kGauges.begin(), kGauges.end(), name) != kGauges.end();
}

}  // namespace

void BenchSampler::start(Time from, Time to, bool own_thread) {
  next_ = from;
  step_ = std::max((to - from) / kSamples, Time::duration(1));
  samples_left_ = kSamples + 1;
  if (own_thread) thread_ = std::thread([this] { run(); });
}

void BenchSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool BenchSampler::wait_until(Time time) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_until(lock, time, [this] { return stopped_; });
}

void BenchSampler::run() {
  while (samples_left_ > 0 && wait_until(next_)) sample();
}

void BenchSampler::sample() {
  next_ += step_;
  --samples_left_;
  last_ = core_.status().counters;
  if (first_.empty()) first_ = last_;
  for (const auto& [name, value] : last_) {
    if (is_gauge(name)) samples_[name].push_back(value);
  }
}

std::map<std::string, std::uint64_t> BenchSampler::growth() const {
  std::map<std::string, std::uint64_t> grown;
  // All samples have the same counters in the same order.
  for (std::size_t i = 0; i < first_.size() && i < last_.size(); ++i) {
    if (!is_gauge(last_[i].first)) grown[last_[i].first] = last_[i].second - first_[i].second;
  }
  return grown;
}

std::map<std::string, std::uint64_t> BenchSampler::gauges() const {
  std::map<std::string, std::uint64_t> medians;
  for (const auto& [name, samples] : samples_) {
    std::vector<std::uint64_t> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    medians[name] = sorted[sorted.size() / 2];
  }
  return medians;
}

}  // namespace peal::cli
