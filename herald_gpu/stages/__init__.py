"""The stages of the method, one file each; only `herald_gpu.pipeline` knows their order."""
