// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::port {

/// Something that blocks, and is therefore done on a thread of its own where there is one.
class Work {
 public:
  virtual ~Work() = default;
  virtual void carry_out() = 0;
};

}  // namespace peal::port
