"""Writes everything that is in a release's folder. Only `tools.release` runs it, in a copy of the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from strongref_cli.install.packaging import Files, python_version, with_locations, zip_bytes
from strongref_cli.install.release import ABOUT, BUCKET, CHECKSUMS, FORMAT, TEMPLATE
from strongref_cli.install.suite import Suite, load_suite
from tools.release_sbom import sbom
from tools.release_templates import serverless_repository, stack_set

SOURCE = Path(__file__).resolve().parents[1]

STEPS = {"stackset.md": "release_stackset.md", "serverless-repo.md": "release_serverless_repo.md"}
"""What to do with the template of that name: the files here that have it."""


def write(folder: Path, url: str) -> None:
    """Fill a release's folder, and write its zip file next to it."""
    suite = load_suite()
    if suite.untested:
        sys.exit("make release: " + " ".join(suite.untested) + " Install what requirements/dev.txt has.")
    files = released(suite)
    files |= _distributions(folder)
    made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    (wheel,) = [name for name in files if name.endswith(".whl")]
    layer = next(each for each in suite.archives if each.path == "layers/core")
    files["sbom.cdx.json"] = sbom(suite.version, made, layer.content(), {wheel: files[wheel]})
    files["stackset.json"] = stack_set(suite)
    files["serverless-repo.yaml"] = serverless_repository(files["template.yaml"].decode(), suite.version, url).encode()
    for name in ("README.md", "LICENSE"):
        files[name] = (SOURCE / name).read_bytes()
    files |= {name: _steps(source, suite.version) for name, source in STEPS.items()}
    files[CHECKSUMS] = checksums(files)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder.parent / f"{folder.name}.zip").write_bytes(
        zip_bytes({f"{folder.name}/{name}": content for name, content in files.items()})
    )
    for note in suite.notes:
        sys.stderr.write(f"make release: {note}\n")


def released(suite: Suite) -> dict[str, bytes]:
    """The files of a release's folder that installing needs, but for the checksums."""
    about = {
        "name": "strongref",
        "format": FORMAT,
        "version": suite.version,
        "python": python_version(suite.template),
        "bytecode": suite.has_bytecode,
    }
    template = with_locations(suite.template, {each.path: BUCKET + each.key for each in suite.archives})
    return {
        ABOUT: (json.dumps(about, indent=2) + "\n").encode(),
        TEMPLATE: template.encode(),
        **{BUCKET + each.key: each.content() for each in suite.archives},
    }


def checksums(files: Files) -> bytes:
    """The file SHA256SUMS, as `sha256sum --check` reads it."""
    return "".join(f"{sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def _steps(source: str, version: str) -> bytes:
    return Path(__file__).with_name(source).read_text("utf-8").replace("VERSION", version).encode()


def _distributions(folder: Path) -> dict[str, bytes]:
    """The wheel and the sdist, checked as a package index does."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    _run(command)
    paths = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, paths)])
    return {path.name: path.read_bytes() for path in paths}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"make release: {command[2]} failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
