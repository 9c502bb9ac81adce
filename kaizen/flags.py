"""Feature flags: read once, strictly boolean, in this module only."""

from dataclasses import dataclass

from kaizen import environment


@dataclass(frozen=True)
class Flags:
    """Every switch an operator may set. A seam that reads one gets this object from settings."""

    sandbox_enabled: bool
    agent_studio_enabled: bool
    agent_studio_conversational_enabled: bool
    agent_pipeline_selector_enabled: bool
    delegated_workloads_enabled: bool


def read() -> Flags:
    """Parse all flags from the environment; an unparsable value raises `InvalidSetting`."""
    return Flags(
        sandbox_enabled=environment.boolean("SANDBOX_ENABLED", False),
        agent_studio_enabled=environment.boolean("AGENT_STUDIO_ENABLED", True),
        agent_studio_conversational_enabled=environment.boolean(
            "AGENT_STUDIO_CONVERSATIONAL_ENABLED", False
        ),
        agent_pipeline_selector_enabled=environment.boolean(
            "AGENT_PIPELINE_SELECTOR_ENABLED", False
        ),
        delegated_workloads_enabled=environment.boolean("DELEGATED_WORKLOADS_ENABLED", False),
    )
