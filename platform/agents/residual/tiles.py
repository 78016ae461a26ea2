"""The inner loop of convolutions: sixteen outputs of six cells at a time, in vector registers.

With `NUMBA_DISABLE_JIT=1` it is plain Python with equal results: products are added one by one and each rounded, so no
sum depends on the others.
"""

from __future__ import annotations

from typing import Any

from ...core.compilation.late_numba import JIT, cgutils, intrinsic, ir, types

TILE, LANES, NINE = 6, 16, 9  # cells, their outputs, and the cells around each in `near`


def _spread(builder: Any, number: Any) -> Any:
    """Returns a vector of sixteen times the same number."""
    undefined = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    vector = builder.insert_element(undefined, number, ir.IntType(32)(0))
    return builder.shuffle_vector(vector, undefined, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def _add_tile(
    typing_context: Any, near: Any, first: Any, slots: Any, layer: Any, inputs: Any, table: Any, at: Any, sums: Any,
    to: Any, outputs: Any,
) -> Any:  # fmt: skip
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        near, first, slots, layer, inputs, table, at, sums, to, outputs = arguments
        word, vector = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)
        cells, numbers, weights, totals = (
            context.make_array(signature.args[number])(context, builder, array).data
            for number, array in ((0, near), (3, layer), (5, table), (7, sums))
        )

        def vector_at(data: Any, place: Any) -> Any:
            return builder.bitcast(builder.gep(data, [place]), vector.as_pointer())

        places = [vector_at(totals, builder.add(to, builder.mul(outputs, word(i)))) for i in range(TILE)]
        registers = [cgutils.alloca_once(builder, vector) for _ in range(TILE)]
        for place, register in zip(places, registers, strict=True):
            builder.store(builder.load(place, align=4), register)
        with cgutils.for_range(builder, slots) as slot:
            rows = []
            for i in range(TILE):
                cell = builder.load(builder.gep(cells, [builder.add(builder.add(first, word(NINE * i)), slot.index)]))
                rows.append(builder.gep(numbers, [builder.mul(cell, inputs)]))
            of_slot = builder.add(at, builder.mul(slot.index, builder.mul(inputs, word(LANES))))
            with cgutils.for_range(builder, inputs) as number:
                place = builder.add(of_slot, builder.mul(number.index, word(LANES)))
                factors = builder.load(vector_at(weights, place), align=4)
                for row, register in zip(rows, registers, strict=True):
                    product = builder.fmul(_spread(builder, builder.load(builder.gep(row, [number.index]))), factors)
                    builder.store(builder.fadd(builder.load(register), product), register)
        for place, register in zip(places, registers, strict=True):
            builder.store(builder.load(register), place, align=4)
        return context.get_dummy_value()

    number = types.int64
    return types.void(near, number, number, layer, number, table, number, sums, number, number), generate


def _add_tile_plainly(
    near: Any, first: int, slots: int, layer: Any, inputs: int, table: Any, at: int, sums: Any, to: int, outputs: int
) -> None:
    """Adds the contributions of the cells around each to sixteen sums of six cells, `outputs` apart from `to` on.

    Args:
        near: at `first` and every NINE further, the `slots` cells around each.
        layer: [cells, inputs] numbers of each cell.
        table: from `at` on their weights, [slots, inputs, LANES].
    """
    for i in range(TILE):
        own = sums[to + i * outputs : to + i * outputs + LANES]
        for slot in range(slots):
            row = near[first + NINE * i + slot] * inputs
            for number in range(inputs):
                place = at + (slot * inputs + number) * LANES
                own += layer[row + number] * table[place : place + LANES]


add_tile: Any = _add_tile if JIT else _add_tile_plainly
