"""``voiceagent doctor``: what this machine has, what is missing and how to get it.

Everything that could fail at import is tried in a process of its own, so that a broken installation
gets a report and not a stack trace.
"""

import argparse
import dataclasses
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from voiceagent.commands import _checks as checks
from voiceagent.commands._checks import Check, State
from voiceagent.commands._probe import Outcome, Probe, probe
from voiceagent.config import cache_directory
from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from voiceagent.weights.manifest import Manifest

EPILOG = """\
examples:
  voiceagent doctor                  the report
  voiceagent doctor --preset tiny    whether the small models are here
  voiceagent doctor --json           the same for programs

Exit status 0 when a conversation from a file can run here, 1 when something for it is missing.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the flags."""
    parser.epilog = EPILOG
    parser.add_argument(
        "--preset",
        choices=("cpu", "gpu", "tiny"),
        help="whose models to look for (default: gpu where CUDA is available, else cpu)",
    )
    parser.add_argument(
        "--json", action="store_true", help="end with one line that is a JSON object"
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the report; 0 when a conversation from a file can run."""
    outcomes = _probe_all(probe)
    preset = arguments.preset or _machine_preset(outcomes["torch"])
    report = list(_examine(outcomes, preset))
    missing = [check for check in report if check.state is State.MISSING]
    licences = checks.LICENCES | _model_licences(preset)
    if not arguments.json:
        _print_report(report, licences)
    _print_verdict(missing, preset, as_json=arguments.json)
    if arguments.json:
        print(json.dumps(_as_tree(report, licences, preset)))
    return 1 if missing else 0


def _probe_all(probe: Probe) -> Mapping[str, Outcome]:
    modules = (*checks.LIBRARIES, "sounddevice")
    # Two at once: imports are disk and one core each.
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(modules, pool.map(probe, modules), strict=True))


def _machine_preset(torch: Outcome) -> str:
    return "gpu" if torch.facts.get("devices") else "cpu"


def _examine(outcomes: Mapping[str, Outcome], preset: str) -> Iterator[Check]:
    yield checks.check_python()
    for module, package in checks.LIBRARIES.items():
        yield checks.check_library(package, outcomes[module])
    yield checks.check_cuda(outcomes["torch"])
    yield checks.check_processor()
    yield checks.check_compiler()
    yield checks.check_memory()
    yield checks.check_disk(cache_directory())
    yield checks.check_sound(outcomes["sounddevice"])
    yield _check_models(preset)


def _check_models(preset: str) -> Check:
    """A quick look at every file of the preset; ``models verify`` looks closer."""
    fetch = f"voiceagent models fetch --preset {preset}"
    try:
        # Imported here: its lock library may be what is missing.
        from voiceagent.weights.store import State as FileState
        from voiceagent.weights.store import Store

        store, files = Store(cache_directory()), _manifest().preset(preset).all
        states = [(f"{file.role} {file.name}", store.state(file)) for file in files]
    except (ImportError, VoiceAgentError) as error:
        return Check(name="models", state=State.MISSING, detail=str(error), remedy=fetch)
    missing = [name for name, state in states if state is FileState.MISSING]
    damaged = [name for name, state in states if state is FileState.DAMAGED]
    here = f"{len(files) - len(missing)} of {len(files)} files of preset {preset} are in "
    detail = f"{here}{store.directory}" + "".join(f"; {name} is damaged" for name in damaged)
    if missing or damaged:
        return Check(name="models", state=State.MISSING, detail=detail, remedy=fetch)
    return Check(name="models", state=State.OK, detail=detail)


def _manifest() -> "Manifest":
    from voiceagent.weights.manifest import Manifest

    return Manifest.load()


def _model_licences(preset: str) -> dict[str, str]:
    try:
        files = _manifest().preset(preset).all
    except VoiceAgentError:  # the check of the models has said so
        return {}
    return {f"{file.role} model": f"{file.licence}: {file.origin}" for file in files}


def _print_report(report: list[Check], licences: Mapping[str, str]) -> None:
    width = max(len(check.name) for check in report)
    for check in report:
        print(f"{check.state:<8} {check.name:<{width}}  {check.detail}")
        if check.remedy:
            print(f"{'':<8} {'':<{width}}  -> {check.remedy}")
    print("\nlicences")
    width = max(map(len, licences))
    for name, licence in licences.items():
        print(f"  {name:<{width}}  {licence}")
    print()


def _print_verdict(missing: list[Check], preset: str, *, as_json: bool) -> None:
    if as_json:
        return
    if not missing:
        print(f"A conversation from a file can run here (preset {preset}).")
    else:
        names = ", ".join(check.name for check in missing)
        print(f"A conversation from a file can't run here yet; missing: {names}.")


def _as_tree(report: list[Check], licences: Mapping[str, str], preset: str) -> dict[str, Any]:
    return {
        "ready": not any(check.state is State.MISSING for check in report),
        "preset": preset,
        "missing": [check.name for check in report if check.state is State.MISSING],
        "checks": [dataclasses.asdict(check) for check in report],
        "licences": dict(licences),
    }
