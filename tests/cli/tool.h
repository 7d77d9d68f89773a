// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/node/process.h"
#include "temp_dir.h"

// Runs the tool as a person does, with real processes and sockets. PEAL_PROGRAM is the tool's path.

namespace peal::cli {

inline std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Tool : public testing::Test {
 protected:
  ~Tool() override { stop_all(children_, 10'000); }

  struct Ran {
    int status = -1;
    std::string out;
    std::string err;
  };
  /// Runs a shell command in which "peal" is the tool, and $DIR a folder of this test.
  Ran run(const std::string& command) const {
    const std::string whole = "DIR=" + dir_ + "; peal() { " PEAL_PROGRAM " \"$@\"; }; { " +
                              command + "; } >" + dir_ + "/out 2>" + dir_ + "/err </dev/null";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(dir_ + "/out"),
            content(dir_ + "/err")};
  }
  /// Starts the tool in the background.
  void start(const std::vector<std::string>& arguments, const std::string& output) {
    auto child = Child::start(PEAL_PROGRAM, arguments, dir_ + "/" + output);
    ASSERT_TRUE(child) << child.error();
    children_.push_back(std::move(*child));
  }
  void up(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"up", "--dir", dir_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    start(arguments, "up.out");
  }
  void wait_for(const std::string& condition) const {
    const Ran waited = run("peal status --to $DIR --timeout 30 --wait " + condition);
    ASSERT_EQ(waited.status, 0) << waited.err << content(dir_ + "/up.out");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ + "/" + name) << text;
  }

  TempDir folder_;
  const std::string& dir_ = folder_.path();
  std::vector<Child> children_;
};

/// Checks that a command was refused: the exit status is 2, and `err` is one line with `what`.
inline void expect_refused(int status, const std::string& err, const std::string& what) {
  EXPECT_EQ(status, 2);
  EXPECT_THAT(err, testing::StartsWith("peal: "));
  EXPECT_THAT(err, testing::HasSubstr(what));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
}

}  // namespace peal::cli
