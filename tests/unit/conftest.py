"""What the quick tests have in common."""

from __future__ import annotations

from tests.support.node import use_own_node

use_own_node()
