"""Results of a benchmark that nobody ran."""

from __future__ import annotations

from herald_gpu.bench.sections import SECTIONS

FACTS = {
    "machine": "2 cores of a CPU",
    "memory_bytes": 16e9,
    "versions": {"numpy": "2.0"},
    "commit": "abc",
    "load": 0.1,
}
STAGES = {
    "features/fisher": {"seconds": 0.6, "bare": 0.5, "flops": 2e9, "bytes": 3e9, "peak": 5_000_000},
    "expansion": {"seconds": 0.02, "bare": 0.01, "flops": 1.0, "bytes": 1.0, "peak": 6_000_000},
    "pruning": {"seconds": 0.03, "bare": None, "flops": None, "bytes": None, "peak": 4_000_000},
}


def result(section, case):
    """Give figures with which every target is met."""
    plain = {
        "lid-dense": {"lid": 1.0, "gemm": 2.0, "ratio": 0.5, "flops": 1e9, "grown": 1e6},
        "lid-sparse": {"lid": 1.0, "densified": 4.0, "ratio": 0.25, "rows": 10, "features": 5}
        | {"grown": 1e6, "dense_share": 0.1},
        "fisher": {"fisher": 1.2, "products": 1.0, "ratio": 1.2, "sparse": False, "grown": 1e8}
        | {"float32_bytes": 4e8, "float64_bytes": 8e8},
        "feature-count": {"rows": 10, "features": 5, "search": 1.0, "given": 0.5, "tree": 20.0, "ratio": 0.05}
        | {"count": 3, "tree_count": 4},
        "presets": {"default": 1.0, "paper": 0.8, "ratio": 1.25},
        "first-result": {"seconds": 1.5, "first": 9.0, "kernels_cached": 11},
        "memory": {"seconds": 1.0, "taken": 3e9, "input": 1e9, "kept": 5e8, "excess": 1.5e9},
        "approximate": {"exact": 20.0, "approximate": 1.0, "speedup": 20.0, "spearman": 0.98},
        "peers": {"seconds": 0.01, "nodes": 5, "storage_ratio": 0.01, "grown": 1},
    }
    if section in plain:
        return plain[section]
    if section == "growth":
        return {"seconds": int(case) / 1e4, "taken": int(case) * 1e3, "input": int(case) * 5e2}
    if section == "reddit" and case == "training":
        return {"epoch": 10.0, "epochs": 2, "hidden": 1024, "seconds": 2000.0, "of": 200}
    if section == "reddit":
        sizes = {"nodes": 9, "edges": 8, "features": 7, "classes": 2}
        work = {"reading": {"flops": 0.0, "bytes": 1e9}}
        return {"seconds": 50.0, "peak": 9e9, "input": 2e9, "sizes": sizes, "timings": {"reading": 4.0}, "work": work}
    scale = float(case.partition("=")[2].partition(" ")[0]) if "=" in case else 1.0
    sizes = {"nodes": int(scale), "edges": int(10 * scale), "features": int(scale), "classes": 3}
    return {"sizes": sizes, "kept": 5, "reading": 0.1, "stages": STAGES}


def fill(results, sections=SECTIONS):
    """Put such figures into results."""
    for section in sections:
        for case in SECTIONS[section].cases(results.quick):
            results.add(section, case, dict(result(section, case.name)), facts=FACTS)
