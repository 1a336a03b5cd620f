"""Profile a scripted policy: throughput beside bare clients, and a run that is killed on a rough server.

    python benchmarks/pivot_profile.py throughput [--pivots 500] [--samples 8] [--delay 0.0] [--httpx]
    python benchmarks/pivot_profile.py rough [--pivots 10000] [--samples 8] [--concurrency 64] [--kills 1]
    python benchmarks/pivot_profile.py cache [--trajectories 60] [--depth 12]

The server is tests/sampling/policy_server.py in a process of its own. `throughput` sends the same requests by
a client written on bare asyncio streams, by bare loops over aiohttp and, with --httpx, httpx, and by
`pivot_profile`, which also scores, journals and resumes. Runs take turns, and the best of `--rounds` counts,
in wall time and in processor time of the client. `rough` lets the server answer 429s, 500s, malformed and cut
bodies and not at all, kills the profile with SIGKILL in the middle, goes on, and checks that no pivot was
sampled twice and none was lost. `cache` reports the share of input tokens that a prefix cache held: with what
the rows say of their trajectories, and without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "sampling"), str(ROOT / "tests" / "support")]

from json_rows import write_rows  # noqa: E402 - found through the line above
from order_rows import order_row  # noqa: E402 - see above
from policy_server import BLOCK  # noqa: E402 - see above

from gymbal.commands.pivot_profile import pivot_profile  # noqa: E402 - see above
from gymbal.io.sample_journal import read_samples  # noqa: E402 - see above
from gymbal.model.profile import SampleStatus  # noqa: E402 - see above
from gymbal.model.sampling import Api, SamplingLimits, SamplingSettings  # noqa: E402 - see above
from gymbal.sampling.request import request_body  # noqa: E402 - see above

RATES = (0.0, 0.0, 0.05, 0.3, 0.5, 0.8, 1.0, 1.0)
SERVER = ROOT / "tests" / "sampling" / "policy_server.py"

Client = Callable[[str, list[bytes], int], Coroutine[Any, Any, None]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Profile a scripted policy.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    throughput = kinds.add_parser("throughput")
    throughput.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    throughput.add_argument("--rounds", type=int, default=3)
    throughput.add_argument("--httpx", action="store_true", help="measure httpx, too")
    rough = kinds.add_parser("rough")
    rough.add_argument("--kills", type=int, default=1)
    for command, pivots in ((throughput, 500), (rough, 10_000)):
        command.add_argument("--pivots", type=int, default=pivots)
        command.add_argument("--samples", type=int, default=8)
        command.add_argument("--concurrency", type=int, default=64)
    cache = kinds.add_parser("cache")
    cache.add_argument("--trajectories", type=int, default=60)
    cache.add_argument("--depth", type=int, default=12)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return {"throughput": measure, "rough": kill_and_resume, "cache": share_of_cache}[arguments.kind](
            arguments, Path(folder)
        )


@contextmanager
def server(*options: str) -> Iterator[str]:
    """A policy server in a process of its own; yields its address."""
    command = [sys.executable, str(SERVER), *options]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def rows_of(count: int, folder: Path) -> Path:
    rows = [order_row(number, RATES[number % len(RATES)]) for number in range(count)]
    return write_rows(folder / "pivots.jsonl", rows)


def measure(arguments: argparse.Namespace, folder: Path) -> int:
    rows = rows_of(arguments.pivots, folder)
    settings = SamplingSettings(model="policy", api=Api.CHAT)
    bodies = [request_body(line, settings) for line in rows.read_bytes().splitlines()]
    requests = [body for body in bodies for _ in range(arguments.samples)]
    clients: dict[str, Client] = {"asyncio streams": by_streams, "aiohttp": by_aiohttp}
    if arguments.httpx:
        clients["httpx"] = by_httpx
    wall: dict[str, float] = {}
    busy: dict[str, float] = {}
    with server("--delay", str(arguments.delay)) as address:
        for number in range(arguments.rounds):
            runs: dict[str, Callable[[], object]] = {
                name: partial(asyncio.run, client(address, requests, arguments.concurrency))
                for name, client in clients.items()
            }
            runs["pivot_profile"] = partial(profile, rows, folder / f"{number}.jsonl", address, arguments)
            for name, run in runs.items():
                started, used = time.perf_counter(), time.process_time()
                run()
                wall[name] = min(wall.get(name, 1e9), time.perf_counter() - started)
                busy[name] = min(busy.get(name, 1e9), time.process_time() - used)
    print(
        f"{len(requests)} requests, {arguments.concurrency} at once, {arguments.delay:g} s of work in each;"
    )
    print("requests in a second of wall time, and the processor time of the client for each")
    for name, seconds in wall.items():
        shares = [f"{wall[bare] / seconds:>7.0%} of {bare}" for bare in ("asyncio streams", "aiohttp")]
        spent = 1e6 * busy[name] / len(requests)
        print(
            f"  {name:<16}{len(requests) / seconds:>8,.0f} requests/s{''.join(shares)}{spent:>6.0f} us each"
        )
    return 0


def profile(rows: Path, output: Path, address: str, arguments: argparse.Namespace) -> None:
    limits = SamplingLimits(concurrency=arguments.concurrency)
    pivot_profile(
        rows, output, base_url=address, model="policy", k=arguments.samples, api="chat", limits=limits
    )


async def by_streams(address: str, requests: list[bytes], concurrency: int) -> None:
    parts = urlsplit(address)
    left = iter(requests)

    async def work() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for body in left:
            head = b"POST %b/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            length = b"content-length: %d\r\n\r\n" % len(body)
            writer.write(head % parts.path.encode() + length + body)
            lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
            size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            json.loads(await reader.readexactly(size))
        writer.close()

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def by_aiohttp(address: str, requests: list[bytes], concurrency: int) -> None:
    aiohttp = import_module("aiohttp")
    left = iter(requests)
    headers = {"content-type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def work() -> None:
            for body in left:
                async with session.post(f"{address}/chat/completions", data=body) as reply:
                    json.loads(await reply.read())

        await asyncio.gather(*(work() for _ in range(concurrency)))


async def by_httpx(address: str, requests: list[bytes], concurrency: int) -> None:
    httpx = import_module("httpx")
    left = iter(requests)
    headers = {"content-type": "application/json"}
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(limits=limits, headers=headers, timeout=60) as session:

        async def work() -> None:
            for body in left:
                json.loads((await session.post(f"{address}/chat/completions", content=body)).content)

        await asyncio.gather(*(work() for _ in range(concurrency)))


def kill_and_resume(arguments: argparse.Namespace, folder: Path) -> int:
    rows, output = rows_of(arguments.pivots, folder), folder / "profile.jsonl"
    wanted = arguments.pivots * arguments.samples
    with server("--faults") as address:
        command = [sys.executable, "-m", "gymbal", "pivot", "profile", str(rows), "-o", str(output)]
        command += [
            "--base-url",
            address,
            "--model",
            "policy",
            "-k",
            str(arguments.samples),
            "--timeout",
            "2",
        ]
        command += ["--api", "chat", "--concurrency", str(arguments.concurrency), "--format", "json"]
        started = time.perf_counter()
        for number in range(1, arguments.kills + 1):
            kill_at(command, folder / "profile.samples.jsonl", wanted * number // (arguments.kills + 1))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - started
    report = json.loads(done.stdout)["sampled"]["samples"]
    found = Counter(
        (sample.pivot, sample.sample)
        for sample in read_samples(folder / "profile.samples.jsonl")
        if sample.status is SampleStatus.OK
    )
    print(
        f"{arguments.pivots} pivots x {arguments.samples}, {arguments.concurrency} at once, {seconds:.0f} s"
    )
    print(f"  killed with SIGKILL {arguments.kills} times")
    print(f"  samples answered {len(found)} of {wanted}, failed {report['failed']}")
    print(f"  of them before the last start {report['earlier']}; requests since then {report['requests']}")
    print(f"  sampled twice {sum(times > 1 for times in found.values())}, lost {wanted - len(found)}")
    return 0 if len(found) == found.total() == wanted else 1


def kill_at(command: list[str], journal: Path, lines: int) -> None:
    """Run `command`, and kill it once `journal` has so many lines."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    seen, place = 0, 0
    while process.poll() is None:
        time.sleep(0.05)
        if journal.exists():
            with journal.open("rb") as stream:
                stream.seek(place)
                data = stream.read()
            seen, place = seen + data.count(b"\n"), place + len(data)
        if seen >= lines:
            os.kill(process.pid, signal.SIGKILL)
    process.wait()


def share_of_cache(arguments: argparse.Namespace, folder: Path) -> int:
    trajectories, depth = arguments.trajectories, arguments.depth
    page = 1000
    room = max(1, trajectories // 5)
    blocks = room * depth * (page + 150) // BLOCK
    rows = []
    for number in range(trajectories):
        talk: list[dict[str, Any]] = []
        for level in range(depth):
            place = {"source": "s.jsonl", "line": number + 1, "depth": level, "call": level}
            rows.append(order_row(number * depth + level, 0.5, before=list(talk), **place))
            talk.append({"role": "user", "content": f"page {level} of {number} " + "x" * page})
    # Without their provenance, nothing says which rows belong together.
    bare = [{**row, "pivot_info": {"uuid": row["pivot_info"]["uuid"]}} for row in rows]
    random.Random(0).shuffle(rows)
    shuffled = [*rows]
    random.Random(1).shuffle(bare)
    print(f"{trajectories} trajectories of {depth} pivots x 8, and a cache with room for {room} of them")
    orders = {"shuffled": shuffled, "shuffled, without provenance": bare}
    for name, order in orders.items():
        path = write_rows(folder / "pivots.jsonl", order)
        with server("--cache-blocks", str(blocks)) as address:
            report = pivot_profile(
                path,
                folder / f"{name}.jsonl",
                base_url=address,
                model="policy",
                api="chat",
                limits=SamplingLimits(concurrency=32),
            )
        assert report.sampled is not None
        share = report.sampled.tokens.cached_share or 0.0
        print(f"  {name:<30}{share:>6.1%} of the input tokens cached, {1 - share:.1%} computed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
