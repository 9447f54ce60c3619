"""The shape of ATIF v1.8, the Agent Trajectory Interchange Format; `tradeschool.recordings` writes and reads it.

The models are strict: an unknown field is refused, and what is ours lies in the format's `extra` objects. Audio parts
and sub-agents are not covered: we write none, and a file that has them is refused.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AtifImage(_Object):
    """Where an image lies, relative to the trajectory's folder."""

    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    path: str


class AtifPart(_Object):
    """One piece of a message: a text or an image."""

    type: Literal["text", "image"]
    text: str | None = None
    source: AtifImage | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.type == "text") or (self.source is None) == (self.type == "image"):
            raise ValueError("a text part has `text` only, an image part `source` only")
        return self


Content = str | tuple[AtifPart, ...]


class AtifToolCall(_Object):
    """A call the agent made."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None


class AtifResult(_Object):
    """What came back, for a call or for a message that was none."""

    source_call_id: str | None = None
    content: Content | None = None
    extra: dict[str, Any] | None = None


class AtifObservation(_Object):
    """All that came back in a step."""

    results: tuple[AtifResult, ...]


class AtifMetrics(_Object):
    """What the model's call took: tokens, dollars, and ids and log-probabilities for training."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    extra: dict[str, Any] | None = None


class AtifStep(_Object):
    """One turn."""

    step_id: int = Field(ge=1)
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    message: Content
    reasoning_content: str | None = None
    tool_calls: tuple[AtifToolCall, ...] | None = None
    observation: AtifObservation | None = None
    metrics: AtifMetrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = Field(default=None, ge=0)
    extra: dict[str, Any] | None = None

    @field_validator("timestamp")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        if value is not None:
            datetime.fromisoformat(value)
        return value

    @model_validator(mode="after")
    def _fields_of_its_source(self) -> Self:
        agents = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
        wrong = [name for name in agents if self.source != "agent" and getattr(self, name) is not None]
        if wrong:
            raise ValueError(f"only a step of the agent has {wrong[0]!r}")
        if self.llm_call_count == 0 and (self.metrics or self.reasoning_content):
            raise ValueError("a step without a model's call has no metrics and no reasoning")
        ids = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            if result.source_call_id is not None and result.source_call_id not in ids:
                raise ValueError(f"source_call_id {result.source_call_id!r} is no call of this step")
        return self


class AtifAgent(_Object):
    """Who played."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: tuple[dict[str, Any], ...] | None = None
    extra: dict[str, Any] | None = None


class AtifFinalMetrics(_Object):
    """Sums over all steps."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = Field(default=None, ge=0)
    extra: dict[str, Any] | None = None


class AtifTrajectory(_Object):
    """The whole file."""

    schema_version: Literal["ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"]
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: AtifAgent
    steps: tuple[AtifStep, ...] = Field(min_length=1)
    notes: str | None = None
    final_metrics: AtifFinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    extra: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if [step.step_id for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise ValueError("step_id must count from 1 without a gap")
        return self
