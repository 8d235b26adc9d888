"""``voiceagent models list|fetch|verify``: the model files of the presets."""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from voiceagent.config import cache_directory
from voiceagent.weights.errors import DamagedWeights, FetchError, MissingWeights
from voiceagent.weights.manifest import File, Manifest
from voiceagent.weights.store import State, Store

PRESETS = ("cpu", "tiny", "gpu")
EPILOG = """\
examples:
  voiceagent models list                  every file, and whether it is here
  voiceagent models fetch                 what this machine's preset needs
  voiceagent models fetch --preset tiny   the small models that the tests use
  voiceagent models verify                compute every digest again

Files are kept in ~/.cache/voiceagent; VOICEAGENT_CACHE moves them. A download that was stopped goes
on where it stopped. Packages of the package index are fetched by pip, with its configuration.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares ``list``, ``fetch`` and ``verify``."""
    parser.epilog = EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary, default in (
        ("list", "show every file: role, size, licence, state", "all"),
        ("fetch", "get what is missing or damaged", "gpu where CUDA is available, else cpu"),
        ("verify", "compute the digests again; exit 1 if one is wrong", "every file that is here"),
    ):
        action = actions.add_parser(name, help=summary, description=summary)
        action.add_argument(
            "--preset", choices=(*PRESETS, "all"), help=f"whose files (default: {default})"
        )
        action.add_argument(
            "--json", action="store_true", help="end with one line that is a JSON object"
        )


def run(arguments: argparse.Namespace) -> int:
    """Runs the chosen action."""
    manifest, store = Manifest.load(), Store(cache_directory())
    if arguments.action == "list":
        return _list(store, _files(manifest, arguments.preset or "all"), as_json=arguments.json)
    if arguments.action == "verify":
        return _verify(store, _to_verify(store, manifest, arguments.preset), arguments.json)
    return _fetch(store, manifest, arguments.preset or _machine_preset(), arguments.json)


def _files(manifest: Manifest, preset: str) -> tuple[File, ...]:
    names = PRESETS if preset == "all" else (preset,)
    return tuple(dict.fromkeys(file for name in names for file in manifest.preset(name).all))


def _machine_preset() -> str:
    """As a conversation chooses it when no preset is given."""
    try:
        import torch
    except (ImportError, OSError):  # OSError: a shared library of torch's own is missing
        return "cpu"
    return "gpu" if torch.cuda.is_available() else "cpu"


def _list(store: Store, files: Sequence[File], *, as_json: bool) -> int:
    rows = [_describe(store, file) for file in files]
    if as_json:
        print(json.dumps({"cache": str(store.directory), "files": rows}))
        return 0
    width = max(len(file.name) for file in files)
    for row in rows:
        print(
            f"{row['role']:<11} {row['name']:<{width}} {_readable(row['bytes']):>9}  "
            f"{row['licence']:<13} {row['state']:<11} {','.join(row['presets'])}"
        )
    print(f"in {store.directory}")
    return 0


def _describe(store: Store, file: File) -> dict[str, Any]:
    state = store.state(file)
    return {
        "role": file.role,
        "name": file.name,
        "bytes": store.bytes(file),
        "sha256": None if store.place(file) is None else store.digest(file),
        "licence": file.licence,
        "origin": file.origin,
        "presets": list(file.presets),
        "state": str(state),
        "path": None if state is State.MISSING else str(store.place(file)),
    }


def _readable(size: int | None) -> str:
    if size is None:
        return "?"
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} B"


def _to_verify(store: Store, manifest: Manifest, preset: str | None) -> Sequence[File]:
    """Without a preset: whatever is here, for no one needs all presets."""
    if preset is not None:
        return _files(manifest, preset)
    here = [f for f in _files(manifest, "all") if store.state(f) is not State.MISSING]
    if not here:
        raise MissingWeights(
            f"there are no model files in {store.directory}; run: voiceagent models fetch"
        )
    return here


def _verify(store: Store, files: Sequence[File], as_json: bool) -> int:
    bad: dict[str, str] = {}
    with _Bars() as bars:
        for file in files:
            bars.start(file, total_bytes=store.bytes(file))
            try:
                store.verify(file, on_bytes=partial(bars.verified, file))
                bars.finish(file)
            except (MissingWeights, DamagedWeights) as error:
                bad[file.name] = str(error)
    for text in bad.values():
        print(text, file=sys.stderr)
    if as_json:
        print(json.dumps({"verified": len(files) - len(bad), "bad": bad}))
    else:
        print(f"{len(files) - len(bad)} of {len(files)} files are what the manifest says")
    return 1 if bad else 0


def _fetch(store: Store, manifest: Manifest, preset: str, as_json: bool) -> int:
    files = _files(manifest, preset)
    _let_termination_clean_up()
    try:
        with _Bars() as bars:
            store.fetch(files, progress=bars)
    except KeyboardInterrupt:
        print(
            "voiceagent: stopped; the same command goes on where this one stopped", file=sys.stderr
        )
        return 130
    except FetchError as error:
        raise FetchError(f"{error}: voiceagent models fetch --preset {preset}") from error
    if as_json:
        print(json.dumps({"preset": preset, "files": [_describe(store, f) for f in files]}))
    else:
        print(f"{len(files)} files of preset {preset} are in {store.directory}, verified")
    return 0


def _let_termination_clean_up() -> None:
    """A plain kill would leave the downloads' own processes running."""

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


class _Bars:
    """One progress bar for each file, on standard error; plain lines where it is no terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks: dict[File, TaskID] = {}

    def __enter__(self) -> "_Bars":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, file: File, *, total_bytes: int | None) -> None:
        """Adds its bar."""
        self._tasks[file] = self._progress.add_task(file.name, total=total_bytes)
        self._plain(f"{file.name} ({_readable(total_bytes)}) ...")

    def update(self, file: File, *, done_bytes: int, total_bytes: int | None = None) -> None:
        """Moves its bar."""
        self._progress.update(self._tasks[file], completed=done_bytes)
        if total_bytes is not None:
            self._progress.update(self._tasks[file], total=total_bytes)

    def verified(self, file: File, done_bytes: int) -> None:
        """Moves its bar."""
        self.update(file, done_bytes=done_bytes)

    def finish(self, file: File) -> None:
        """Fills its bar."""
        task = self._progress.tasks[self._tasks[file]]
        self._progress.update(task.id, completed=task.total or task.completed)
        self._plain(f"{file.name}: verified")

    def note(self, text: str) -> None:
        """Prints a line above the bars."""
        self._console.print(text, style="dim", highlight=False, soft_wrap=True)

    def _plain(self, text: str) -> None:
        if not self._console.is_terminal:
            self._console.print(text, highlight=False, soft_wrap=True)
