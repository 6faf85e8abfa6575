"""What a condensation would take on a device: work, memory and time, predicted from sizes alone."""

from herald_gpu.planning.devices import DEVICES, DeviceSpec, find_device
from herald_gpu.planning.model import plan
from herald_gpu.planning.plans import Plan, StagePlan
from herald_gpu.planning.spread import plan_workers
from herald_gpu.planning.worker_plans import WorkerPlan

__all__ = ["DEVICES", "DeviceSpec", "Plan", "StagePlan", "WorkerPlan", "find_device", "plan", "plan_workers"]
