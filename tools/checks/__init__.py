# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that a machine can check; tools/check.py runs them."""
