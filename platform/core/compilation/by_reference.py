"""Classes that compiled code takes by reference: one address in place of all members.

A game is a dozen pointers, a seat with its evaluator thirty words. By value, every call passes them all, every kernel
is compiled with them all, and a call from Python reads each of them out of its object. By reference they are written
once to memory that never changes, and a kernel loads what it uses. Numba learns of them in members.py.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from .late_numba import Expression, found, reference_types, type_of

_LOCK = threading.RLock()
_NUMBAS = f"{__package__}.members"

pointer_type = Expression(found, _NUMBAS, "pointer_type")  # (signature): of a member that is a kernel's address
LateType = Expression(
    found, _NUMBAS, "LateType"
)  # (signature): the same, if compiled code may be the first to ask for it
_ReferenceType = Expression(found, _NUMBAS, "ReferenceType")


class ByReference:
    """Base of frozen dataclasses whose members compiled code reads: pointers of kernels, numbers, arrays, others of it.

    `reference_type` declares the types of the members.
    """

    @property
    def address(self) -> int:
        """The address of the members as compiled code reads them; valid as long as this object."""
        known = vars(self)
        if "_address" not in known:
            with _LOCK:  # the memory that a thread has got must stay
                known["_address"] = int(known.setdefault("_memory", self._written()).ctypes.data)
        return int(known["_address"])

    def _written(self) -> npt.NDArray[np.int64]:
        """Returns the members in memory."""
        from .members import words_of

        return np.array(words_of(type_of(type(self)), self.__getstate__().values()), np.int64)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


def reference_type(cls: type[ByReference], *members: Any) -> Expression:
    """Declares the types of a class's members and returns the class's own, for signatures of kernels."""
    declared = reference_types[cls] = _ReferenceType(cls, members)
    return declared
