# SPDX-License-Identifier: Apache-2.0
"""Mechanical mutants: what tools/mutate is made of."""
