// SPDX-License-Identifier: Apache-2.0
#include "oracle/checker.h"

#include <gtest/gtest.h>
