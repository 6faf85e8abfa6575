"""What a condensation would take on a device: work, memory and time, predicted from sizes alone."""

from herald_gpu.planning.devices import DEVICES, DeviceSpec, find_device
from herald_gpu.planning.model import plan
from herald_gpu.planning.plans import Plan, StagePlan

__all__ = ["DEVICES", "DeviceSpec", "Plan", "StagePlan", "find_device", "plan"]
