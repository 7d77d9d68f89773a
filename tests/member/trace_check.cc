// SPDX-License-Identifier: Apache-2.0
#include "trace_check.h"

#include "oracle/files.h"

namespace peal::test {

Judgement judge(const std::vector<std::string>& paths, std::uint32_t nodes) {
  oracle::Options options = oracle::file_options();
  options.truncated_ok = false;
  options.universe = nodes;
  const auto report = oracle::check_files(paths, options);
  if (!report) return {report.error(), 0, 0, 0};
  Judgement result;
  for (const oracle::Violation& violation : report->order.violations) {
    result.problem += violation.text + "\n";
  }
  if (!report->ok() && result.problem.empty()) result.problem = "violations without a text";
  result.deliveries = report->order.figures.deliveries;
  result.messages = report->order.figures.messages;
  result.transitional_views = report->order.figures.transitional_views;
  return result;
}

}  // namespace peal::test
