// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/plain_script.h"

#include "sim/scenario/tokenizer.h"

namespace peal::sim {

void PlainScript::command(const std::string& text, Instant now) {
  if (file_ == nullptr || text.rfind("target", 0) == 0) return;
  if (now > written_) {
    std::fprintf(file_, "run %s\n", duration_text(now - written_).c_str());
    written_ = now;
  }
  const bool is_run = text.rfind("run ", 0) == 0;
  if (!is_run) std::fprintf(file_, "%s\n", text.c_str());
  std::fflush(file_);
}

}  // namespace peal::sim
