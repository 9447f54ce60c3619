"""Spaces of the environments: tool calls in, Unicode text and pictures out.

They work in Gymnasium's vector environments, the asynchronous one with shared memory too: how each is laid out there
is registered at the end of the file, through Gymnasium's own dispatch.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

from tradeschool.tools import MalformedCall, Tool, ToolResult, parse_call

MAX_TEXT_BYTES = 1 << 20
MAX_IMAGES = 8
MAX_IMAGE_BYTES = 1 << 24
CUT = "\n[cut: an observation holds at most 1 MiB of text]"


class ToolCallSpace(gym.Space[dict[str, Any]]):
    """All well-formed calls `{"name": str, "arguments": dict}` of some tools."""

    def __init__(self, tools: Sequence[Tool], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(None, None, seed)
        self.tools = tuple(tools)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> dict[str, Any]:
        """A random tool with random arguments that fit its schema (an optional one is there half of the time)."""
        if mask is not None or probability is not None:
            raise ValueError("ToolCallSpace.sample takes no mask or probability")
        tool = self.tools[int(self.np_random.integers(len(self.tools)))]
        return {"name": tool.name, "arguments": sample_schema(tool.parameters, self.np_random)}

    def contains(self, x: Any) -> bool:
        """Whether `x` is a well-formed call."""
        try:
            parse_call(x, self.tools)
        except MalformedCall:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolCallSpace) and self.tools == other.tools

    def __repr__(self) -> str:
        return f"ToolCallSpace({', '.join(tool.name for tool in self.tools)})"


def sample_schema(schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """A random value that fits a JSON Schema of the kinds tools use; `examples` are preferred where given."""
    for key in ("enum", "examples"):
        if key in schema:
            return schema[key][int(rng.integers(len(schema[key])))]
    if "const" in schema:
        return schema["const"]
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return sample_schema(schema[key][int(rng.integers(len(schema[key])))], rng)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[int(rng.integers(len(kind)))]
    if kind == "object":
        wanted = set(schema.get("required", ()))
        fields = schema.get("properties", {})
        return {name: sample_schema(sub, rng) for name, sub in fields.items() if name in wanted or rng.random() < 0.5}
    if kind == "array":
        low = schema.get("minItems", 0)
        length = int(rng.integers(low, schema.get("maxItems", low + 3) + 1))
        return [sample_schema(schema.get("items", {}), rng) for _ in range(length)]
    if kind in ("number", "integer"):
        low = schema.get("minimum", schema.get("exclusiveMinimum", -10))
        high = schema.get("maximum", schema.get("exclusiveMaximum", low + 20))
        if kind == "integer":
            return int(rng.integers(int(low), int(high) + 1))
        return round(float(low + (high - low) * (0.001 + 0.998 * rng.random())), 3)
    if kind == "boolean":
        return bool(rng.integers(2))
    if kind == "null":
        return None
    letters = rng.integers(ord("a"), ord("z") + 1, size=max(8, schema.get("minLength", 0)))
    return "".join(chr(letter) for letter in letters)


class UnicodeText(gym.Space[str]):
    """Any Unicode text of up to `MAX_TEXT_BYTES` bytes in UTF-8."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Up to 64 random letters."""
        return "".join(chr(c) for c in self.np_random.integers(97, 123, size=int(self.np_random.integers(65))))

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x.encode("utf-8", "surrogatepass")) <= MAX_TEXT_BYTES

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText)

    def __repr__(self) -> str:
        return "UnicodeText()"


class Images(gym.Space[tuple[np.ndarray, ...]]):
    """Up to `MAX_IMAGES` pictures, uint8 of shape (H, W, 3) each, `MAX_IMAGE_BYTES` bytes together."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> tuple[np.ndarray, ...]:
        """None or one random picture of 8 x 8."""
        count = int(self.np_random.integers(2))
        return tuple(self.np_random.integers(0, 256, (8, 8, 3), dtype=np.uint8) for _ in range(count))

    def contains(self, x: Any) -> bool:
        def fits(image: Any) -> bool:
            return isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3

        return (
            isinstance(x, tuple)
            and len(x) <= MAX_IMAGES
            and all(fits(image) for image in x)
            and sum(image.nbytes for image in x) <= MAX_IMAGE_BYTES
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Images)

    def __repr__(self) -> str:
        return "Images()"


def observation_space() -> gym.spaces.Dict:
    """`{"text": UnicodeText, "images": Images}`, the same for every trade."""
    return gym.spaces.Dict({"text": UnicodeText(), "images": Images()})


def make_observation(result: ToolResult) -> dict[str, Any]:
    """A tool's result as an observation: lone surrogates replaced, text cut at the space's limit."""
    raw = result.text.encode("utf-8", "replace")
    if len(raw) > MAX_TEXT_BYTES:
        raw = raw[: MAX_TEXT_BYTES - len(CUT)].decode("utf-8", "ignore").encode() + CUT.encode()
    return {"text": raw.decode("utf-8"), "images": result.images[:MAX_IMAGES]}


# --- shared memory of AsyncVectorEnv: a length (or shape) header, then the bytes, one slot an environment ---


class SharedBatch(Sequence[Any]):
    """A batch of observations that live in shared memory, read each time it is looked at.

    AsyncVectorEnv asks for it once and shows it for ever, and copies it (into a plain tuple) for its caller.
    """

    def __init__(self, read: Callable[[int], Any], n: int) -> None:
        self._read = read
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self._read(i) for i in range(self._n)[index])
        return self._read(range(self._n)[index])

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[Any, ...]:
        return tuple(self)


Slots = Any  # a header array and a byte array


def _slots(ctx: Any, n: int, header: int, capacity: int) -> Slots:
    # anonymous memory: pages are taken only when they are written to
    return ctx.RawArray("q", n * header), ctx.RawArray("B", n * capacity)


@create_shared_memory.register(UnicodeText)
def _create_text(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> Slots:
    return _slots(ctx, n, 1, MAX_TEXT_BYTES)


@write_to_shared_memory.register(UnicodeText)
def _write_text(space: UnicodeText, index: int, value: str, shared_memory: Slots) -> None:
    lengths, data = shared_memory
    raw = value.encode("utf-8")
    lengths[index] = len(raw)
    memoryview(data).cast("B")[index * MAX_TEXT_BYTES : index * MAX_TEXT_BYTES + len(raw)] = raw


@read_from_shared_memory.register(UnicodeText)
def _read_text(space: UnicodeText, shared_memory: Slots, n: int = 1) -> Any:
    lengths, data = shared_memory

    def read(index: int) -> str:
        start = index * MAX_TEXT_BYTES
        return bytes(memoryview(data).cast("B")[start : start + lengths[index]]).decode("utf-8")

    return SharedBatch(read, n)


SHAPES = 1 + 2 * MAX_IMAGES  # how many images, then height and width of each


@create_shared_memory.register(Images)
def _create_images(space: Images, n: int = 1, ctx: Any = multiprocessing) -> Slots:
    return _slots(ctx, n, SHAPES, MAX_IMAGE_BYTES)


@write_to_shared_memory.register(Images)
def _write_images(space: Images, index: int, value: tuple[np.ndarray, ...], shared_memory: Slots) -> None:
    header, data = shared_memory
    pixels = np.frombuffer(data, np.uint8)
    offset = index * MAX_IMAGE_BYTES
    header[index * SHAPES] = len(value)
    for number, image in enumerate(value):
        at = index * SHAPES + 1 + 2 * number
        header[at], header[at + 1] = image.shape[:2]
        pixels[offset : offset + image.size] = image.ravel()
        offset += image.size


@read_from_shared_memory.register(Images)
def _read_images(space: Images, shared_memory: Slots, n: int = 1) -> Any:
    header, data = shared_memory

    def read(index: int) -> tuple[np.ndarray, ...]:
        images, offset = [], index * MAX_IMAGE_BYTES
        for number in range(header[index * SHAPES]):
            at = index * SHAPES + 1 + 2 * number
            height, width = header[at], header[at + 1]
            flat = np.frombuffer(data, np.uint8, height * width * 3, offset)
            images.append(flat.reshape(height, width, 3).copy())
            offset += flat.size
        return tuple(images)

    return SharedBatch(read, n)
