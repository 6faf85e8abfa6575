"""Graphs that outgrow one machine: the stages of `herald_gpu.stages` on partitions of rows, held by Dask workers."""
