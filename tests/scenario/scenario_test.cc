// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/run/mutants.h"
#include "sim/run/pool.h"

// Registers a test for each scenario file that exists when the program starts.

namespace peal::sim {
namespace {

std::string test_name(const std::filesystem::path& file) {
  std::string name =
      file.lexically_relative(std::filesystem::path(PEAL_TESTS_DIR)).replace_extension().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

enum class Code : std::uint8_t { as_written, without_mutant };

/// The same scenario without its mutant. This scenario must pass: otherwise a failure with the
/// mutant proves nothing.
Script without_mutant(Script script) {
  for (Script::Line& line : script.lines) {
    const std::size_t from = line.text.find(" mutant=");
    if (line.text.rfind("cluster", 0) == 0 && from != std::string::npos) {
      line.text.erase(from, line.text.find(' ', from + 1) - from);
    }
    if (line.text.rfind("expect violation", 0) == 0) line.text.clear();
  }
  return script;
}

class ScenarioFile : public testing::Test {
 public:
  ScenarioFile(std::string path, Code code) : path_(std::move(path)), code_(code) {}

  void TestBody() override {
    Result<Script, std::string> script = load_script(path_);
    ASSERT_TRUE(script.has_value()) << script.error();
    if (code_ == Code::without_mutant) script = without_mutant(*script);
    // The scenario runs in another process: if an assertion fails there, only this test fails.
    PoolOptions pool;
    pool.jobs = 1;
    bool judged_once = false;
    run_pool(
        pool, [&](std::uint64_t) { return run_scenario(*script, sim_hooks::Mutant::none); },
        [&](const RunResult& finding) {
          judged_once = true;
          EXPECT_EQ(judged(*script, finding).text, "") << script->text();
        });
    EXPECT_TRUE(judged_once);
  }

 private:
  std::string path_;
  Code code_;
};

void register_file(const std::filesystem::path& file, const std::string& name, Code code) {
  testing::RegisterTest("Scenario", name.c_str(), nullptr, nullptr, file.c_str(), 1,
                        [path = file.string(), code] { return new ScenarioFile(path, code); });
}

void register_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"scenario", "regress", "mutants"}) {
    const std::filesystem::path root = std::filesystem::path(PEAL_TESTS_DIR) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() == ".txt" && path.filename() != "CMakeLists.txt") files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    register_file(file, test_name(file), Code::as_written);
    if (file.parent_path().filename() == "mutants") {
      register_file(file, test_name(file) + "_without_it", Code::without_mutant);
    }
  }
}

}  // namespace
}  // namespace peal::sim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  peal::sim::register_files();
  return RUN_ALL_TESTS();
}
