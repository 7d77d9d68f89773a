// SPDX-License-Identifier: Apache-2.0
#include "io/worker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <future>
#include <thread>

namespace peal::io {
namespace {

struct Count : port::Work {
  void carry_out() override {
    ++count;
    thread = std::this_thread::get_id();
  }
  int count = 0;
  std::thread::id thread;
};

/// Work that ends only when the test allows it.
struct Held : port::Work {
  void carry_out() override { let.get_future().wait(); }
  std::promise<void> let;
};

void wait_done(Worker& worker) {
  pollfd entry{worker.done_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, -1), 1);
  ASSERT_TRUE(worker.take_done());
}

TEST(Worker, CarriesOutOnAnotherThread) {
  const auto worker = Worker::open();
  ASSERT_TRUE(worker);
  Count work;
  for (int i = 1; i <= 1'000; ++i) {
    (*worker)->start(work);
    EXPECT_TRUE((*worker)->busy());
    wait_done(**worker);
    EXPECT_FALSE((*worker)->busy());
    ASSERT_EQ(work.count, i);
  }
  EXPECT_NE(work.thread, std::this_thread::get_id());
  EXPECT_FALSE((*worker)->take_done());
}

TEST(Worker, IsNotDoneBeforeTheWorkIs) {
  const auto worker = Worker::open();
  ASSERT_TRUE(worker);
  Held work;
  (*worker)->start(work);
  EXPECT_FALSE((*worker)->take_done());
  EXPECT_TRUE((*worker)->busy());
  work.let.set_value();
  wait_done(**worker);
}

TEST(Worker, EndsAfterWhatIsUnderWay) {
  Count work;
  {
    const auto worker = Worker::open();
    ASSERT_TRUE(worker);
    (*worker)->start(work);
  }
  EXPECT_EQ(work.count, 1);
}

}  // namespace
}  // namespace peal::io
