"""The program ends with its own status, whatever its threads are doing."""

import subprocess
import sys

import pytest

AT_WORK = """
import sys, threading
import numpy, onnxruntime
from onnx import TensorProto, helper
import voiceagent.cli
from voiceagent.__main__ import run

value = helper.make_tensor_value_info
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "x"], ["y"])],
    "square",
    [value("x", TensorProto.FLOAT, [500, 500])],
    [value("y", TensorProto.FLOAT, [500, 500])],
)
opsets = [helper.make_opsetid("", 13)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
session = onnxruntime.InferenceSession(model)
rows = numpy.ones((500, 500), numpy.float32)
started = threading.Event()


def work():
    while True:
        session.run(None, {"x": rows})  # hardly ever in Python itself
        started.set()


def command():
    threading.Thread(target=work, daemon=True).start()
    started.wait()
    print("the last line")
    if STATUS == 130:
        raise KeyboardInterrupt
    return STATUS


voiceagent.cli.main = command
sys.exit(run())
"""


@pytest.mark.parametrize("status", [0, 1, 130])
def test_a_thread_inside_a_library_does_not_abort_the_end(status: int) -> None:
    """A voice or recognizer that still runs when a disk is full, or at Ctrl-C, changes nothing."""
    done = subprocess.run(
        [sys.executable, "-c", AT_WORK.replace("STATUS", str(status))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (status, "the last line\n"), done.stderr
    assert done.stderr == ("voiceagent: stopped.\n" if status == 130 else "")
