"""Tests against a live node, with a program that squares its argument and fails of what is no number.

GODWIT_DATA_DIR is the node's data directory, SQUARE the program. pytest and unittest both run them.
"""

import contextlib
import io
import json
import os
import tempfile
import time
import unittest
from concurrent.futures import Executor as BaseExecutor
from concurrent.futures import as_completed
from pathlib import Path

import godwit
from godwit import _progress, executor

SQUARE = os.environ["SQUARE"]


class ClientTest(unittest.TestCase):
    """Jobs: handed in, followed, fetched."""

    def setUp(self) -> None:
        self.client = godwit.Client()

    def test_finds_the_node(self) -> None:
        directory = Path(os.environ["GODWIT_DATA_DIR"])
        by_socket = godwit.Client(directory).status()["peer_id"]
        address = (directory / "api.addr").read_text()
        self.assertEqual(by_socket, godwit.Client(api=address).status()["peer_id"])
        self.assertEqual(by_socket, godwit.Client("/nowhere", api=address, token_file=directory / "api.token").status()
                         ["peer_id"])
        with self.assertRaises(godwit.ApiError) as refused:
            godwit.Client(api=address, token_file=directory / "api.addr").status()
        self.assertEqual(refused.exception.kind, "auth")
        with self.assertRaises(godwit.NoNode):
            godwit.Client("/nowhere").status()
        with self.assertRaises(godwit.ApiError):
            godwit.Client("/nowhere", api=address)
        self.assertEqual([m["roles"] for m in self.client.peers()], [["leader", "self"]])

    def test_job(self) -> None:
        job = self.client.map(SQUARE, range(20), name="squares")
        tasks = job.results()
        self.assertEqual([int(t.text()) for t in tasks], [n * n for n in range(20)])
        self.assertEqual(tasks[7].params, {"value": "7"})
        self.assertEqual(self.client.job(job.id[-8:]).id, job.id)
        self.assertIn(job.id, [j["id"] for j in self.client.jobs()])
        with self.assertRaises(godwit.GodwitError):
            tasks[0].read("none")
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(len(job.save(directory, only="std*")), 20)
            self.assertEqual(Path(directory, "7", "stdout").read_text(), "49\n")
            with self.assertRaises(FileExistsError):
                job.save(directory)
        job.forget()
        with self.assertRaises(godwit.ApiError) as gone:
            list(job.ended())
        self.assertEqual(gone.exception.status, 404)

    def test_job_files_over_data(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            base = Path(directory)
            for name in ("in/a.txt", "in/deep/b.txt", "in/deep/c.dat", "more/d"):
                (base / name).parent.mkdir(parents=True, exist_ok=True)
                (base / name).write_text(f"of {name}\n" * 200)
            (base / "cases.csv").write_text("file,n\nin/a.txt,1\nmore/d,2\n")
            (base / "job.yaml").write_text(f"module: {SQUARE}\nargs: [echo, '{{{{.case.n}}}}', '{{{{.image.stem}}}}']\n"
                                           "files: ['{{.case.file}}', more/, 'in/**/*.dat', '{{.image.path}}']\n"
                                           "sweep: {case: {csv: cases.csv}, image: {files: 'in/**/*.txt'}}\n")
            tasks = self.client.submit(base / "job.yaml").results()
            self.assertEqual([t.text() for t in tasks], ["1 a\n", "1 b\n", "2 a\n", "2 b\n"])
            (base / "cases.csv").write_text("file,n\nin/none.txt,1\n")
            with self.assertRaisesRegex(godwit.GodwitError, "in/none.txt"):
                self.client.submit(base / "job.yaml")

    def test_stages(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "job.yaml").write_text(
                f"name: two\nstages:\n  a:\n    module: {SQUARE}\n    args: ['{{{{.n}}}}']\n    outputs: [stdout]\n"
                f"    sweep: {{n: [3, 4]}}\n  b:\n    module: {SQUARE}\n    args: [cat]\n    each: a\n"
                "    stdin: '{{.a}}/stdout'\n    outputs: [stdout]\n")
            tasks = self.client.submit(Path(directory, "job.yaml")).results()
            self.assertEqual([t.text() for t in tasks], ["9\n", "16\n", "9\n", "16\n"])

    def test_add(self) -> None:
        job = self.client.submit({"name": "more", "module": SQUARE, "args": ["{{.n}}"], "sweep": {"n": [3, 4]},
                                  "trials": 2})
        added = job.add(sweep={"n": [4, 5]})
        self.assertEqual([t.text() for t in added.results()], ["25\n", "25\n"])
        self.assertEqual([t.text() for t in job.add(trials=1, points={"n": [3]}).results()], ["9\n"])
        self.assertEqual([(a["job"] == added.id, a["tasks"]) for a in job.status()["added"]], [(True, 2), (False, 1)])
        self.assertEqual(added.status()["adds"], job.id)
        with self.assertRaises(godwit.ApiError) as twice:
            job.add(sweep={"n": [5]})
        self.assertEqual(twice.exception.status, 409)

    def test_cancel_tasks(self) -> None:
        job = self.client.submit({"name": "fewer", "module": SQUARE, "args": ["{{.n}}"], "sweep": {"n": [3, 4]}})
        job.wait()
        with self.assertRaises(godwit.ApiError) as ended:
            job.cancel(tasks=[1, 0])
        self.assertEqual(ended.exception.status, 409)

    def test_files(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            long = "long words " * 1000
            Path(directory, "in.txt").write_text(long)
            Path(directory, "job.yaml").write_text(f"module: {SQUARE}\nargs: [cat]\nstdin: in.txt\n")
            task, = self.client.submit(Path(directory, "job.yaml")).results()
            self.assertEqual(task.text(), long)
            task, = self.client.submit(Path(directory, "job.yaml"), files={"in.txt": b"others"}).results()
            self.assertEqual(task.read(), b"others")
            os.remove(Path(directory, "in.txt"))
            with self.assertRaisesRegex(godwit.GodwitError, "in.txt"):
                self.client.submit(Path(directory, "job.yaml"))
            with self.assertRaisesRegex(godwit.GodwitError, "'b'"):
                self.client.submit(Path(directory, "job.yaml"), files={"b": b""})

    def test_mistakes(self) -> None:
        with self.assertRaises(godwit.ApiError) as wrong:
            self.client.submit({"modul": SQUARE})
        self.assertEqual((wrong.exception.kind, wrong.exception.status), ("input", 400))
        self.assertIn("module", wrong.exception.hint)
        with self.assertRaises(godwit.GodwitError):
            self.client.map(SQUARE, [])
        with self.assertRaises(godwit.TaskFailed) as failed:
            self.client.submit(SQUARE, ["six"]).results()
        self.assertEqual(failed.exception.task.exit_code, 1)
        self.assertIn("no number", str(failed.exception))

    def test_follow(self) -> None:
        job = self.client.map(SQUARE, ["1", "x", "3"], retries=0)
        self.assertEqual(sorted((t.index, t.failed) for t in job.as_completed()), [(0, False), (1, True), (2, False)])
        self.assertEqual(job.wait()["state"], "partly")
        self.assertTrue(job.why()["reasons"])
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            job.wait(progress=True)
        self.assertIn("3 of 3 done", shown.getvalue())
        self.assertIn("1 failed", shown.getvalue())
        endless = self.client.submit(SQUARE, ["spin"])
        endless.cancel()
        self.assertEqual(endless.wait()["state"], "cancelled")


    def test_node_goes_away(self) -> None:
        job = self.client.map(SQUARE, range(30))
        transport, sent = job._transport, [0]  # pylint: disable=protected-access

        class Flaky:
            """A connection to the node that breaks at some requests."""

            def open(self, *args: object) -> object:
                sent[0] += 1
                if sent[0] in (1, 3):  # of watching, and of fetching what ended
                    raise ConnectionResetError("gone")
                return transport.open(*args)

            def json(self, *args: object) -> object:
                with self.open(*args) as answer:
                    return json.load(answer)

        job._transport = Flaky()  # pylint: disable=protected-access
        self.assertEqual(sorted(t.index for t in job.as_completed()), list(range(30)))
        self.assertGreater(sent[0], 3)


class ExecutorTest(unittest.TestCase):
    """Modules called as functions."""

    def test_thousand_calls(self) -> None:
        before = len(godwit.Client().jobs())
        with godwit.Executor() as pool:
            self.assertIsInstance(pool, BaseExecutor)
            square = godwit.Module(SQUARE, result=int)
            began = time.monotonic()
            self.assertEqual(list(pool.map(square, range(1000))), [n * n for n in range(1000)])
            took = time.monotonic() - began
        jobs = len(godwit.Client().jobs()) - before
        self.assertLessEqual(jobs, 20)
        print(f"1,000 calls were {jobs} jobs, in {took:.1f} s")

    def test_calls(self) -> None:
        with godwit.Executor() as pool:
            futures = {pool.submit(SQUARE, n): str(n * n) for n in (3, 3, 4)}
            failing = pool.submit(SQUARE, "{{.six}}")
            pairs = [("x", "y"), ("x", "{{"), ("é", "\"'\n"), ("x", "y")]
            several = [pool.submit(SQUARE, "echo", a, b) for a, b in pairs]
            for future in as_completed(futures):
                self.assertEqual(future.result(), futures[future])
            self.assertEqual([f.result() for f in several], ["x y", "x {{", "é \"'\n", "x y"])
            with self.assertRaises(godwit.TaskFailed) as failed:
                failing.result()
            self.assertIn("{{.six}}", str(failed.exception))

    def test_refused(self) -> None:
        with godwit.Executor() as pool:
            for wrong in ((len, 1), (SQUARE, "x" * 5000), (SQUARE, "\0")):
                with self.assertRaises((TypeError, ValueError)):
                    pool.submit(*wrong)
            with self.assertRaises(TypeError):
                pool.submit(SQUARE, n=1)
            nowhere = pool.submit("nowhere.wasm", 1)
            strange = pool.submit(godwit.Module(SQUARE, job={"memory": "12 bananas"}), 1)
            self.assertIsInstance(nowhere.exception(), FileNotFoundError)
            self.assertIsInstance(strange.exception(), godwit.ApiError)
        with self.assertRaises(RuntimeError):
            pool.submit(SQUARE, 1)

    def test_cancel(self) -> None:
        pool = godwit.Executor()
        futures = [pool.submit(SQUARE, n) for n in range(10)]
        pool.shutdown(cancel_futures=True)
        self.assertTrue(all(f.done() for f in futures))

    def test_groups(self) -> None:
        module = godwit.Module(SQUARE)

        def calls(*args: tuple) -> list:
            # pylint: disable=protected-access
            return [executor._Call(module, a, None, 0) for a in args]  # type: ignore[arg-type]

        # pylint: disable=protected-access
        some = calls(("a", "1"), ("a", "2"), ("b", "1"), ("a", "1"))
        self.assertEqual(sorted(len(g) for g in executor._alike(some, lambda: False)), [1, 3])
        self.assertEqual([len(g) for g in executor._alike(some, lambda: True)], [4])
        self.assertEqual(executor._job_of(some)["zip"], ["arg0", "arg1"])
        self.assertEqual(executor._job_of(some[:2])["args"], ["a", "{{.arg1}}"])
        self.assertEqual([len(g) for g in executor._alike(calls((), (), ()), lambda: False)], [3])
        self.assertEqual(executor._job_of(calls((), ()))["sweep"], {"repeat": 2})


class ReadmeTest(unittest.TestCase):
    """The README's ten lines."""

    def test_ten_lines(self) -> None:
        text = Path(__file__).resolve().parent.parent.joinpath("README.md").read_text("utf-8")
        code = text.split("```python\n")[1].split("```")[0]
        self.assertEqual(len(code.splitlines()), 10)
        said, shown, here = io.StringIO(), io.StringIO(), os.getcwd()
        os.chdir(Path(SQUARE).parent)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(shown):
                exec(code, {})  # pylint: disable=exec-used
        finally:
            os.chdir(here)
        self.assertEqual(said.getvalue(), f"49 {sum(n * n for n in range(1000))}\n")
        self.assertIn("1001 of 1001 done", shown.getvalue())


class BarTest(unittest.TestCase):
    """One line of progress."""

    def test_line(self) -> None:
        to = io.StringIO()
        bar = _progress.Bar(to)
        bar.count(4, 1, 1, 2)
        bar.close()
        self.assertRegex(to.getvalue(), r"^\r\[#{12}\.{12}\] 2 of 4 done, 2 running, [0-9.]+/s, 1 failed\n$")


if __name__ == "__main__":
    unittest.main()
