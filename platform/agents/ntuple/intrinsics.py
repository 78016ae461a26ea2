"""Machine instructions that numba does not offer: gathering bits by a mask, four sums at once.

With `NUMBA_DISABLE_JIT=1`, and on processors without the instruction, all are plain Python with equal results.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from ...core.compilation.late_numba import JIT, cgutils, intrinsic, ir, types
from ...core.kernel import kernel

_WORD = types.uint64
_0, _1 = np.uint64(0), np.uint64(1)


def _has_bit_gather() -> bool:
    with contextlib.suppress(OSError), Path("/proc/cpuinfo").open() as told:  # Linux knows it without LLVM
        return any(line.startswith("flags") and "bmi2" in line.split() for line in told)
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("bmi2", False))


HAS_BIT_GATHER = JIT and _has_bit_gather()


@kernel(_WORD(_WORD, _WORD))
def gather_bits_by_shifts(word, mask):
    """Returns the bits of `word` under `mask`, packed at the low end."""
    gathered, place = _0, _1
    while mask != _0:
        lowest = mask & (_0 - mask)
        if word & lowest != _0:
            gathered |= place
        place <<= _1
        mask ^= lowest
    return gathered


@intrinsic
def _gather_bits(typing_context: Any, word: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word_type = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word_type, [word_type, word_type]), "llvm.x86.bmi.pext.64"
        )
        return builder.call(function, arguments)

    return _WORD(_WORD, _WORD), generate


def _as_vector(builder: Any, elements: list[Any]) -> Any:
    vector = ir.Constant(ir.VectorType(elements[0].type, len(elements)), ir.Undefined)
    for lane, element in enumerate(elements):
        vector = builder.insert_element(vector, element, ir.IntType(32)(lane))
    return vector


def _four_entries(context: Any, builder: Any, table: Any, table_type: Any, places: Any, further: Any) -> Any:
    """Returns a vector of float64: the elements of a float32 table at four places + `further`."""
    data = builder.gep(context.make_array(table_type)(context, builder, table).data, [further])
    found = [builder.load(builder.gep(data, [builder.extract_value(places, lane)])) for lane in range(4)]
    return builder.fpext(_as_vector(builder, found), ir.VectorType(ir.DoubleType(), 4))


@intrinsic
def _add_four_changes(
    typing_context: Any, table: Any, places: Any, further: Any, before: Any, sums: Any, to: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, places, further, before, sums, to = arguments
        found = _four_entries(context, builder, table, signature.args[0], places, further)
        known = _as_vector(builder, [builder.extract_value(before, lane) for lane in range(4)])
        data = context.make_array(signature.args[4])(context, builder, sums).data
        pointer = builder.bitcast(builder.gep(data, [to]), found.type.as_pointer())
        changed = builder.fadd(builder.load(pointer, align=8), builder.fsub(found, known))
        builder.store(changed, pointer, align=8)
        return context.get_dummy_value()

    four_places, four_entries = types.UniTuple(types.int64, 4), types.UniTuple(types.float64, 4)
    return types.void(table, four_places, types.int64, four_entries, sums, types.uint64), generate


def _add_four_changes_plainly(table: Any, places: Any, further: Any, before: Any, sums: Any, to: Any) -> None:
    """Adds to four sums from number `to` on: the entry at its place + `further`, minus the entry before."""
    for lane in range(4):
        sums[int(to) + lane] += np.float64(table[places[lane] + further]) - before[lane]


gather_bits: Any = _gather_bits if HAS_BIT_GATHER else gather_bits_by_shifts
add_four_changes: Any = _add_four_changes if JIT else _add_four_changes_plainly
