// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/text.h"
#include "oracle/files.h"

namespace peal::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const oracle::Report& report) {
  const oracle::Figures& f = report.figures;
  Json out;
  out["violations_total"] = report.violations_total;
  out["violations"] = Json::array();
  for (const oracle::Violation& violation : report.violations) {
    out["violations"].push_back({{"property", oracle::property_id(violation.property)},
                                 {"text", violation.text},
                                 {"at", violation.at_ns}});
  }
  out["figures"] = {{"events", f.events},
                    {"submitted", f.submitted},
                    {"messages", f.messages},
                    {"deliveries", f.deliveries},
                    {"views", f.views},
                    {"installs", f.installs},
                    {"members", f.members},
                    {"crashed", f.crashed},
                    {"left", f.left},
                    {"safe_deliveries", f.safe_deliveries},
                    {"transitional_deliveries", f.transitional_deliveries}};
  return out;
}

void print_text(const oracle::FilesReport& report, std::size_t files) {
  for (const oracle::Report* part : {&report.order, &report.unit}) {
    for (const oracle::Violation& violation : part->violations) {
      std::printf("%s: %s\n", std::string(oracle::property_id(violation.property)).c_str(),
                  violation.text.c_str());
    }
    if (part->violations_total > part->violations.size()) {
      std::printf("… and %s more\n",
                  grouped(part->violations_total - part->violations.size()).c_str());
    }
  }
  const oracle::Figures& f = report.order.figures;
  std::printf("%s, %s: %s of %s at %s in %s\n", counted(files, "file").c_str(),
              counted(report.lines, "line").c_str(), counted(f.deliveries, "delivery").c_str(),
              counted(f.messages, "message").c_str(), counted(f.members, "member").c_str(),
              counted(f.views, "view").c_str());
  if (report.cut_lines > 0) {
    std::printf("%s cut off in the last line: its process was killed\n",
                counted(report.cut_lines, "file").c_str());
  }
  const std::uint64_t violations = report.order.violations_total + report.unit.violations_total;
  std::printf("%s\n", violations == 0
                          ? "all promises kept: one order, agreed views, nothing lost or doubled"
                          : counted(violations, "violation").c_str());
}

}  // namespace

int run_check(const CheckCommand& command) {
  const auto report = oracle::check_files(command.files, oracle::file_options());
  if (!report) return fail(2, "check: " + report.error());
  // Without events nothing was checked, so the absence of violations has no meaning.
  if (report->order.figures.events == 0 && report->unit.figures.events == 0) {
    return fail(2, "check: " + command.files.front() +
                       (command.files.size() > 1 ? " and the others have" : " has") +
                       " no events: accepted are traces, which `peal up --trace` and `peal node "
                       "--trace FILE` write");
  }
  if (command.json) {
    Json out;
    out["ok"] = report->ok();
    out["files"] = command.files;
    out["lines"] = report->lines;
    out["cut_lines"] = report->cut_lines;
    out["order"] = json_of(report->order);
    if (report->unit.figures.events > 0) out["unit"] = json_of(report->unit);
    std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    print_text(*report, command.files.size());
  }
  return report->ok() ? 0 : 1;
}

}  // namespace peal::cli
