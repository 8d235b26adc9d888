"""Rules for every test: one tier each, no silent skips on CI, no network."""

import logging
import os
import signal
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

# Read by huggingface_hub when it is imported: no library may ask a hub in the middle of a test.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

TESTS = Path(__file__).parent
TIERS = ("unit", "property", "model", "pipeline", "browser", "telephony", "latency")
"""In the order in which they run: quick ones first."""
CORE_TIERS = ("unit", "property")
"""The tiers whose tests count towards the coverage of ``voiceagent.core``."""
CASES = TESTS.parents[1] / "shared" / "cases"
"""Texts of other projects with their right readings: judged against, never copied in here."""
LEFT_OUT: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests marked long")


def pytest_configure(config: pytest.Config) -> None:
    _guard_network()
    _heed_interrupts()
    for tier in TIERS:
        config.addinivalue_line("markers", f"{tier}: lies in tests/{tier} (set by its folder)")
    config.addinivalue_line("markers", "long: soak, load and full sweeps; only with --long")
    config.addinivalue_line("markers", "gpu: needs CUDA; named, not skipped, where there is none")
    config.addinivalue_line(
        "markers", "cases: reads public texts beside the checkout; named where they are not there"
    )
    config.addinivalue_line("markers", "no_cover: not counted by pytest-cov")


def tier_of(path: Path) -> str:
    """The tier of a test file: the first folder under ``tests``.

    Raises:
        pytest.UsageError: the file lies in no tier, or its tier does not exist.
    """
    parts = path.relative_to(TESTS).parts
    if len(parts) < 2 or parts[0] not in TIERS:
        raise pytest.UsageError(
            f"{path}: a test belongs in exactly one of tests/{{{','.join(TIERS)}}}"
        )
    return parts[0]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        tier = tier_of(item.path)
        item.add_marker(tier)
        if tier not in CORE_TIERS:
            item.add_marker("no_cover")
    items.sort(key=lambda item: TIERS.index(tier_of(item.path)))
    _leave_out(config, items, mark="long", wanted=config.getoption("--long"))
    _leave_out(config, items, mark="gpu", wanted=_has_cuda(items))
    _leave_out(config, items, mark="cases", wanted=CASES.is_dir())


def _leave_out(config: pytest.Config, items: list[pytest.Item], *, mark: str, wanted: bool) -> None:
    marked = [item for item in items if item.get_closest_marker(mark)]
    if wanted or not marked:
        return
    items[:] = [item for item in items if item not in marked]
    config.hook.pytest_deselected(items=marked)
    config.stash.setdefault(LEFT_OUT, {})[mark] = len(marked)


def _has_cuda(items: list[pytest.Item]) -> bool:
    if not any(item.get_closest_marker("gpu") for item in items):
        return False
    import torch

    return torch.cuda.is_available()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands over what it left out: only the controller speaks."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    # Every worker collects everything, so each says the same.
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash.get(LEFT_OUT, {})
    reasons = {
        "long": "they are long: scripts/test --long",
        "gpu": "this machine has no CUDA",
        "cases": f"there is no {CASES}",
    }
    if left_out:
        terminalreporter.section("NOT RUN")
    for mark, count in left_out.items():
        terminalreporter.write_line(f"{count} tests marked {mark}: {reasons[mark]}")


def _fails_on_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip into a failure on CI: a green run must mean that everything ran."""
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get("CI") != "true":
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"skipped, and on CI a skip is a failure: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fails_on_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fails_on_ci(report)
    return report


def _guard_network() -> None:
    """A test that reaches for another machine fails at once, with the address it wanted."""
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)  # type: ignore[arg-type]  # whatever the caller gave

    socket.socket.connect = connect_here  # type: ignore[method-assign]  # for the whole run


def _heed_interrupts() -> None:
    """A shell starts background jobs deaf to Ctrl-C, and programs started by tests inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_loopback(address: object) -> bool:
    host = address[0] if isinstance(address, tuple) else ""
    return host in ("localhost", "::1") or str(host).startswith("127.")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command that a test runs in this process may quieten logging; the next test may not."""
    disabled = logging.root.manager.disable
    yield
    logging.disable(disabled)
