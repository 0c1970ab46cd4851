"""Creates the rows that the embedded stack needs: the account `admin` and the cluster `local`.

The first start generates the admin's password and writes it to a file. If it is changed in the
console, the next start empties the file and never sets the password again. A password from the
environment is set at each start; it empties the file, too.
"""

from collections.abc import Iterator

from django.contrib.auth import get_user_model

from console.accounts.services import ensure_admin
from console.environment_checks import ADMIN_NAME
from monitoring.clusters.embedded_cluster import save_embedded_cluster
from monitoring.secret_files import new_password
from stack.config import StackConfig


def seed(config: StackConfig, given_password: str) -> Iterator[str]:
    """Create or update the rows; yields a line for each new one."""
    if _ensure_admin(config, given_password):
        yield f"Created the account {ADMIN_NAME}"
    save_embedded_cluster(
        bootstrap_servers=config.bootstrap_servers,
        zookeeper_connect=config.zookeeper_connect,
        admin_urls=config.admin_urls,
        admin_token=config.admin_token_file.read_text().strip(),
    )


def _ensure_admin(config: StackConfig, given_password: str) -> bool:
    file = config.admin_password_file
    if given_password:
        if file.exists() and file.read_text().strip() != given_password:
            file.write_text("")
        return ensure_admin(given_password, ADMIN_NAME)
    generated = file.read_text().strip()
    admin = get_user_model().objects.filter(username=ADMIN_NAME).first()
    if admin is None:
        if not generated:  # the account was deleted after its password was changed
            generated = new_password()
            file.write_text(generated + "\n")
        return ensure_admin(generated, ADMIN_NAME)
    if generated and not admin.check_password(generated):
        file.write_text("")
    return ensure_admin("", ADMIN_NAME)
