"""tradeschool: a Gymnasium suite in which language-model agents learn three trades by doing them."""

from gymnasium.envs.registration import register

from tradeschool.errors import AgentError, SandboxError, TaskError, TradeschoolError, UsageError, VerifierError
from tradeschool.families import FAMILIES
from tradeschool.rewards import Part, Reward
from tradeschool.task import Task, TaskPack
from tradeschool.tools import Tool, ToolCall, ToolResult

__version__ = "0.1.0"
__all__ = [
    "AgentError",
    "Part",
    "Reward",
    "SandboxError",
    "Task",
    "TaskError",
    "TaskPack",
    "Tool",
    "ToolCall",
    "ToolResult",
    "TradeschoolError",
    "UsageError",
    "VerifierError",
]

for _family in FAMILIES.values():
    # strings only: docker, bpy and the parsers load when an environment is made, not here
    register(id=_family.env_id, entry_point=_family.entry_point)
