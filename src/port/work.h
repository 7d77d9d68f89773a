// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::port {

/// A task that blocks. It runs on a thread of its own if the program uses threads.
class Work {
 public:
  virtual ~Work() = default;
  virtual void carry_out() = 0;
};

}  // namespace peal::port
