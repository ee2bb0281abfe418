"""Tests by vLLM itself: ``make test-vllm`` runs them; it installs 9.4 GB first, so nothing else does."""

import os

collect_ignore_glob = [] if os.environ.get("PULUMI_LWS_TEST_VLLM") else ["test_*.py"]
