"""The benchmark: what every stage takes beside its bare kernel, held against the targets.

``herald bench`` is its command, and docs/performance.md says how to read it. Each measured case runs in a process of
its own (:mod:`herald_gpu.bench.alone`), so that peaks of memory are that case's.
"""
