# SPDX-License-Identifier: Apache-2.0
"""All cases, in the order in which they run."""

# Each module declares its cases when it is imported.
import cases_processes  # noqa: F401  pylint: disable=unused-import
import cases_paxos  # noqa: F401  pylint: disable=unused-import
import cases_log  # noqa: F401  pylint: disable=unused-import
import cases_lost  # noqa: F401  pylint: disable=unused-import
import cases_failover  # noqa: F401  pylint: disable=unused-import
import cases_away  # noqa: F401  pylint: disable=unused-import
import cases_unserved  # noqa: F401  pylint: disable=unused-import
import cases_streams  # noqa: F401  pylint: disable=unused-import
import cases_links  # noqa: F401  pylint: disable=unused-import
import cases_strangers  # noqa: F401  pylint: disable=unused-import
import cases_seal  # noqa: F401  pylint: disable=unused-import
import cases_names  # noqa: F401  pylint: disable=unused-import
import cases_nodes  # noqa: F401  pylint: disable=unused-import
import cases_gaps  # noqa: F401  pylint: disable=unused-import
import cases_clients  # noqa: F401  pylint: disable=unused-import
import cases_domains  # noqa: F401  pylint: disable=unused-import
import cases_toto  # noqa: F401  pylint: disable=unused-import
import cases_ramcast  # noqa: F401  pylint: disable=unused-import
import cases_memory  # noqa: F401  pylint: disable=unused-import
import cases_silence  # noqa: F401  pylint: disable=unused-import
import cases_citizen  # noqa: F401  pylint: disable=unused-import
from bench import ALL, Bench  # noqa: F401  pylint: disable=unused-import
