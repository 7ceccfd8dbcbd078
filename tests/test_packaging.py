"""What a person gets who installs the wheel: everything, under one import name."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from poolboard import exit_codes

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAPPED: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
FOLDERS = {name: folder for name, folder in MAPPED.items() if name != "poolboard"}

#: What a source tree may hold and a wheel must not.
LEFTOVERS = ("__pycache__", ".mypy_cache", ".ruff_cache")


def packaged_files() -> set[str]:
    """Return every file that belongs into the wheel, by its path in there."""
    found = set()
    for name, folder in MAPPED.items():
        inside = name.replace(".", "/")
        for path in (ROOT / folder).iterdir():
            if path.is_file() and not path.name.startswith("."):
                found.add(f"{inside}/{path.name}")
    return found


def build(kind: str, into: Path) -> Path:
    """Build a wheel or sdist of a clean copy of the tree with the real build backend; return the file."""
    tree = into / "tree"
    if not tree.exists():
        copy_tree(tree)
    program = f"import setuptools.build_meta as b; print(b.build_{kind}({str(into)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tree, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return into / done.stdout.split()[-1]


def copy_tree(tree: Path) -> None:
    """Copy what git would hold, links as links."""
    names = [*MAPPED.values(), "pyproject.toml", "README.md", "LICENSE"]
    tree.mkdir()
    done = subprocess.run(
        ["tar", "-cf", "-", *(f"--exclude={name}" for name in LEFTOVERS), *names], cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    subprocess.run(["tar", "-xf", "-"], cwd=tree, input=done.stdout, check=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built")


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return build("wheel", built)


def test_the_package_list_names_every_folder_and_no_other() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == set(MAPPED)
    with_code = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert set(MAPPED.values()) == with_code


@pytest.mark.parametrize(("name", "folder"), FOLDERS.items())
def test_each_folder_has_its_link_in_the_front_door(name: str, folder: str) -> None:
    link = ROOT / name.replace(".", "/")
    assert link.is_symlink()
    assert os.readlink(link) == f"../{folder}"


def test_no_folder_is_nested_for_setuptools_would_drop_it_silently() -> None:
    nested = [
        path for folder in MAPPED.values() for path in (ROOT / folder).glob("*/*.py") if not path.parent.is_symlink()
    ]
    assert nested == []


def test_the_wheel_holds_every_file_of_the_tree_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == packaged_files()
    assert "poolboard/py.typed" in held


def test_the_sdist_can_be_built_from_and_holds_the_same(built: Path) -> None:
    with tarfile.open(build("sdist", built)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name, folder in MAPPED.items():
        for path in packaged_files():
            if path.rpartition("/")[0] == name.replace(".", "/"):
                assert f"{folder}/{path.rpartition('/')[2]}" in names


def test_the_unpacked_wheel_runs_far_from_the_tree(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def python(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
        )

    version = python("-m", "poolboard", "--version")
    assert version.stdout == f"poolboard {PROJECT['project']['version']}\n"
    where = python("-c", "import poolboard.demo, poolboard.tui.app; print(poolboard.demo.__file__)")
    assert where.stdout.startswith(str(tmp_path / "site")), where.stderr
    missing = python("-m", "poolboard", "demo", "--folder", "nowhere")
    assert missing.returncode == exit_codes.MISTAKE
    assert missing.stderr == "poolboard: no folder nowhere\n"


def test_the_command_is_an_entry_point_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entry = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "poolboard = poolboard.__main__:main" in archive.read(entry).decode()


def test_the_pins_are_exact_versions_without_addresses() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        name, equals, version = line.partition("==")
        assert equals and name and version[0].isdigit(), line
        assert "@" not in line and "/" not in line


def test_every_dependency_is_pinned() -> None:
    pinned = {
        line.partition("==")[0].lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()
    }
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    for requirement in asked:
        name = requirement.split(";")[0].split(">")[0].split("<")[0].split("=")[0].strip()
        assert name.lower() in pinned, requirement


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("old", "poolboard: Python 3.11 or newer is needed, 'old' is 3.8.1"),
        ("bare", "poolboard: 'bare' has no venv module (or no ensurepip): install it"),
        ("absent", "poolboard: no Python at 'absent': install Python 3.11 or newer"),
    ],
)
def test_make_says_in_one_line_what_the_machine_lacks(
    python: str, said: str, tmp_path: Path, make: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = make("test", f"PYTHON={python}", f"VENV={tmp_path}/venv")
    first, *rest = done.stderr.splitlines()
    assert done.returncode == 2
    assert first.startswith(said)
    assert all(line.startswith("make") for line in rest)
    assert not (tmp_path / "venv").exists()


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return ``make(*words)`` on a machine whose Pythons are ``old`` (3.8.1) and ``bare`` (no venv module)."""
    pythons = {
        "old": 'case "$*" in *version_info*%*|*write*) printf 3.8.1;; *) echo False;; esac',
        "bare": 'case "$*" in *ensurepip*) exit 1;; esac; exec ' + sys.executable + ' "$@"',
    }
    for name, script in pythons.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        env.pop("MAKEFLAGS", None)
        return subprocess.run(
            ["make", *words], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )

    return run
