"""Hand jobs to a Godwit node: the idle time of volunteers' machines as a pool of workers.

    import godwit

    with godwit.Executor() as pool:
        square = godwit.Module("square.wasm", result=int)
        print(sum(pool.map(square, range(1000))))
"""

from ._errors import ApiError, GodwitError, NoNode, TaskFailed
from ._job import Job, Output, Task
from .client import Client
from .executor import Executor, Module

__all__ = ["ApiError", "Client", "Executor", "GodwitError", "Job", "Module", "NoNode", "Output", "Task", "TaskFailed"]
