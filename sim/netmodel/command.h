// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::sim {

/// True if the command line has --net. Then `peal sim` measures a modelled network instead of
/// running seeds.
bool asks_for_net(int argc, char** argv);
/// Runs `peal sim --net …`; returns the exit status.
int run_net_command(int argc, char** argv);

}  // namespace peal::sim
