"""What a broker tells on its admin port."""

import httpx

from tests.support.brokerd import Brokerd


def metric(broker: Brokerd, name: str) -> float:
    """One figure of /metrics that has no labels."""
    token = (broker.directory / "admin.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    text = httpx.get(f"{broker.admin_url}/metrics", headers=headers, timeout=60).text
    return float(next(line for line in text.splitlines() if line.startswith(f"{name} ")).split()[1])
