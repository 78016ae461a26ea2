"""Bundles as modules: each version in its own package, so that one process can have several versions."""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UserError
from .bundle import Bundle
from .library import find, unpacked

ROOT = "turnier_code"  # modules are named turnier_code.v<digest>.<module as the bundle's files import it>
_bundles: dict[str, Bundle] = {}
_running: list[str] = []  # places whose code is being run for the first time, the innermost last


def version_package(digest: str) -> str:
    return f"{ROOT}.v{digest}"


def import_bundle(bundle: Bundle) -> types.ModuleType:
    """Returns the bundle's module, which the first call runs; raises any error of its code."""
    _bundles.setdefault(bundle.digest, bundle)
    return importlib.import_module(f"{version_package(bundle.digest)}.{bundle.module}")


def require_no_import(what: str) -> None:
    """Raises UserError while other people's code is being imported: it must not play `what`, such as "a study"."""
    if _running:
        raise UserError(
            f'a script must play {what} below if __name__ == "__main__":, since processes of its bots import it, but'
            f" {_running[-1]} plays whenever it is imported; write that line above."
        )


def module_of(name: str) -> tuple[Bundle, str] | None:
    """Returns the bundle that a module's name belongs to, and the name within it."""
    root, _, rest = name.partition(".")
    version, _, inner = rest.partition(".")
    if root != ROOT or not inner:
        return None
    bundle = _bundles.get(version[1:]) or find(version[1:])  # a pickle names code that this process has not imported
    return (bundle, inner) if bundle else None


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        found = module_of(fullname)
        if found is None:
            return _folder(fullname) if fullname.startswith(ROOT) and fullname.count(".") < 2 else None
        bundle, module = found
        base = module.replace(".", "/")
        for file in (f"{base}/__init__.py", f"{base}.py"):
            if file in bundle.files:
                loader = _Loader(bundle, file)
                origin = loader.get_filename()
                return importlib.machinery.ModuleSpec(
                    fullname, loader, origin=origin, is_package=file.endswith("/__init__.py")
                )
        if any(file.startswith(f"{base}/") for file in bundle.files):  # a folder without __init__.py
            return _folder(fullname)
        return None


def _folder(name: str) -> importlib.machinery.ModuleSpec:
    """Returns the specification of a package without code."""
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = []
    return spec


class _Loader(importlib.abc.InspectLoader):
    def __init__(self, bundle: Bundle, file: str) -> None:
        self._bundle, self._file = bundle, file

    def get_filename(self, fullname: str = "") -> str:
        """Returns the file that the code was read from, for tracebacks, if it is known."""
        folder = self._bundle.folder
        return str(Path(folder) / self._file) if folder else f"<{self._file}@{self._bundle.digest}>"

    def _place(self) -> str:
        """Returns the path that the code sees as its own: beside it are the data files of this version."""
        return str(unpacked(self._bundle) / self._file) if self._bundle.data else self.get_filename()

    def get_source(self, fullname: str) -> str:
        return self._bundle.files[self._file]

    def is_package(self, fullname: str) -> bool:
        return self._file.endswith("/__init__.py")

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = self._place()
        # `import helper` must find the helper of this version, not that of another one or another program's.
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _importer(self._bundle)}
        _running.append(self._file)
        try:
            exec(compile(self.get_source(""), self.get_filename(), "exec", dont_inherit=True), vars(module))
        finally:
            _running.pop()


def _importer(bundle: Bundle) -> Any:
    own = {file.partition("/")[0].removesuffix(".py") for file in bundle.files}
    prefix = version_package(bundle.digest)

    def own_first(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> types.ModuleType:
        top = name.partition(".")[0]
        if level or top not in own:
            return builtins.__import__(name, globals, locals, fromlist, level)
        if fromlist:
            return builtins.__import__(f"{prefix}.{name}", globals, locals, fromlist, 0)
        importlib.import_module(f"{prefix}.{name}")
        return sys.modules[f"{prefix}.{top}"]

    return own_first


sys.meta_path.append(_Finder())
