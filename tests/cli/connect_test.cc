// SPDX-License-Identifier: Apache-2.0
// The error texts for a path without a node, and for a node that does not answer.
#include "cli/client/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "cli/node/cluster_dir.h"
#include "io/fd.h"
#include "temp_dir.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// While this object exists, a process of root runs as another user, because root may open every
/// file.
class Nobody {
 public:
  Nobody() : root_(::geteuid() == 0) {
    if (root_) {
      EXPECT_EQ(::seteuid(65'534), 0);
    }
  }
  ~Nobody() {
    if (root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;

 private:
  bool root_;
};

class Connect : public testing::Test {
 protected:
  Connect() : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
  }

  TempDir folder_;
  std::string socket_ = folder_.path() + "/a.sock";
  io::Fd listener_;
};

TEST_F(Connect, AFolderThatMayNotBeOpenedIsNotSaidToBeWithoutNodes) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0), 0);
  for (const std::string& to : {folder_.path(), socket_}) {
    Result<std::vector<std::string>, std::string> found;
    {
      const Nobody nobody;
      found = find_sockets(to);
    }
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error(), HasSubstr("--to \"" + to + "\": Permission denied: accepted is"));
    EXPECT_THAT(found.error(), Not(HasSubstr("no node runs")));
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
}

TEST_F(Connect, ASocketOfSomebodyElseSaysWhoMay) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(socket_.c_str(), 0), 0);
  const Nobody nobody;
  const auto client = connect_to(socket_, {});
  ASSERT_FALSE(client);
  EXPECT_FALSE(client.error().absent);
  EXPECT_THAT(client.error().text, HasSubstr("Permission denied: accepted are the user who runs"));
}

TEST_F(Connect, ANodeThatSaysNothingIsNamed) {
  v0::ClientOptions options;
  options.connect_timeout = std::chrono::milliseconds(1);
  const auto client = connect_to(socket_, options);
  ASSERT_FALSE(client);
  EXPECT_FALSE(client.error().absent);
  EXPECT_THAT(client.error().text, testing::StartsWith("the node at " + socket_ + " does not"));
}

}  // namespace
}  // namespace peal::cli
