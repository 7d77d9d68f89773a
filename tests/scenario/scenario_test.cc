// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/mutants.h"
#include "sim/runner.h"

// One test for each scenario file, found when the program starts.

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

class ScenarioFile : public testing::Test {
 public:
  explicit ScenarioFile(std::string path) : path_(std::move(path)) {}

  void TestBody() override {
    const Result<Script, std::string> script = load_script(path_);
    ASSERT_TRUE(script.has_value()) << script.error();
    // In a process of its own: an assertion of the node is a failed test, not the end of all.
    PoolOptions pool;
    pool.jobs = 1;
    bool judged_once = false;
    run_pool(
        pool, [&](std::uint64_t) { return run_scenario(*script, sim_hooks::Mutant::none); },
        [&](const Finding& finding) {
          judged_once = true;
          EXPECT_EQ(judged(*script, finding).text, "") << script->text();
        });
    EXPECT_TRUE(judged_once);
  }

 private:
  std::string path_;
};

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
    testing::RegisterTest("Scenario", test_name(file).c_str(), nullptr, nullptr, file.c_str(), 1,
                          [path = file.string()] { return new ScenarioFile(path); });
  }
}

}  // namespace
}  // namespace peal::sim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  peal::sim::register_files();
  return RUN_ALL_TESTS();
}
