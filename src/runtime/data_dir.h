// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace peal::runtime {

/// Why an acceptor cannot keep its log in this folder; empty if it can, as far as can be seen.
std::string why_no_data_dir(const std::string& path);

}  // namespace peal::runtime
