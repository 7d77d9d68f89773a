# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/soak: what there is to do, and what was done."""
