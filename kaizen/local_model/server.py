"""llama.cpp's own HTTP server, run inside this process."""

import os
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import NoReturn

import xllamacpp  # type: ignore[import-untyped]  # ships no types

from kaizen.local_model.weights import Weights

CONTEXT_TOKENS = 8_192
PARALLEL_REQUESTS = 2
ANSWER_TOKENS_MAX = 1_024  # so small a model may never find its end
THREADS_MAX = 4
QUIET = 1  # errors only; the server would print every request with its prompt's size


def serve(weights: Weights, socket: Path, key: str) -> NoReturn:
    """Serve until SIGTERM or SIGINT, then end the process. Every request needs the key."""
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    socket.unlink(missing_ok=True)
    _server = xllamacpp.Server(_parameters(weights, socket, key))
    print(f"serving {weights.name} with {CONTEXT_TOKENS} tokens of context", flush=True)
    ended.wait()
    socket.unlink(missing_ok=True)
    # Stopping the server would wait for answers in the making; nobody reads them any more.
    os._exit(0)


def _parameters(weights: Weights, socket: Path, key: str) -> xllamacpp.CommonParams:
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(weights.file)
    wanted.model_alias = {weights.name}
    wanted.hostnames = [str(socket)]
    wanted.api_keys = [key]
    wanted.n_ctx = CONTEXT_TOKENS
    wanted.n_parallel = PARALLEL_REQUESTS
    wanted.n_predict = ANSWER_TOKENS_MAX
    wanted.kv_unified = True  # one long conversation may use the whole context
    wanted.cache_ram_mib = 0  # the default keeps up to 8 GiB of old prompts
    processors = os.cpu_count() or 1
    # Threads wait for each other after every layer: on a busy machine two threads on two
    # processors write one token a second where one thread writes thirteen.
    wanted.cpuparams.n_threads = min(THREADS_MAX, max(1, processors // 2))
    wanted.cpuparams_batch.n_threads = min(THREADS_MAX, processors)
    wanted.cpuparams.poll = wanted.cpuparams_batch.poll = 0
    if weights.sampling is not None:
        wanted.sampling.temp = weights.sampling.temperature
        wanted.sampling.penalty_repeat = weights.sampling.repeat_penalty
        wanted.sampling.penalty_last_n = weights.sampling.repeat_tokens
    wanted.warmup = False  # the start needs the processors for everything else
    wanted.ui = False
    wanted.endpoint_slots = False
    wanted.verbosity = QUIET
    return wanted
