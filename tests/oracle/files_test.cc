// SPDX-License-Identifier: Apache-2.0
#include "oracle/files.h"

#include <gtest/gtest.h>
