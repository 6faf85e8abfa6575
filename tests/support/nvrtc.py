"""NVRTC, NVIDIA's run-time compiler, called through ctypes: it needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import importlib.metadata
import re
from pathlib import Path

DISTRIBUTIONS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12")
"""Wheels that bring the library: CUDA 13 and CUDA 12."""
LIBRARY = re.compile(r"libnvrtc\.so\.\d+$")


class CompileError(Exception):
    """The source was refused; the message is the compiler's log."""


def find():
    """Path of the library, or None where no wheel of it is installed."""
    for name in DISTRIBUTIONS:
        try:
            files = importlib.metadata.files(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            if LIBRARY.search(file.name):
                return str(file.locate())
    return None


class Compiler:
    """A loaded NVRTC."""

    def __init__(self, path):
        for builtins in Path(path).parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins))  # releases before 13.4 do not look for it beside themselves
        self._library = ctypes.CDLL(path)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status:
            msg = f"{name}: {self._library.nvrtcGetErrorString(status).decode()}"
            raise CompileError(msg)

    def _read(self, program, name):
        """Fetch a result whose size must be asked for first."""
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{name}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{name}", program, buffer)
        return buffer.raw

    def cubin(self, source, architecture, options=()):
        """Compile CUDA C to machine code of one architecture; warnings are errors."""
        program = ctypes.c_void_p()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        options = [f"--gpu-architecture=sm_{architecture}", "--std=c++17", *options]
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        try:
            status = self._library.nvrtcCompileProgram(program, len(options), given)
            log = self._read(program, "ProgramLog").rstrip(b"\0").decode()
            if status or log:
                raise CompileError(log)
            return self._read(program, "CUBIN")
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))
