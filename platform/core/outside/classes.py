"""Classes that are not ours by name: `bot.py:Bot`, `package.module:Bot`, and the version: `bot.py:Bot@3f9a1c2b4d5e`.

A name without a version means the code as it is now. Stored names always have the version, a digest of the code: an
edited class is another class, and its games are not mixed with those of the earlier code. Functions, and classes
without a base of ours, have names as well if a kind knows which class they stand for.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import os
import re
import shlex
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..errors import UserError, nearest
from . import library, session
from .bundle import DATA, DIGITS, SESSION, Bundle, gather, on_disk
from .bundle_modules import import_bundle, module_of
from .revisions import at_revision

SHOWN_DIGITS = 7  # of a version, for people
_NAME = re.compile(r"(?P<place>[^@:]+):(?P<class>[A-Za-z_][\w.]*)(?:@(?P<version>[^@:]+))?")
_lock = threading.RLock()  # importing a bundle may name further classes
_classes: dict[str, type[Any]] = {}  # by full name
_names: dict[type[Any], str] = {}
_loaded: dict[str, str] = {}  # name as written -> name with the version that it stood for
_imported: dict[str, str] = {}  # module -> digest of the code when it was imported
stand_for: dict[str, Callable[[Any], type[Any] | None]] = {}  # kind -> class whose `stands_for` is plain code


def is_outside(name: str) -> bool:
    """Whether a name has the form of a class that is not ours."""
    return ":" in name


def located(name: str) -> tuple[Bundle, str]:
    """Returns the code of a name and the class's path in it, without running it; later processes know it, too."""
    match = _parts_of(name)
    with _lock:
        bundle = _version(name, match["place"], match["version"])
        library.keep(bundle)
    return bundle, match["class"]


def imported(bundle: Bundle, path: str) -> bool:
    """Whether this process has run the code of a class, by whatever means."""
    return named(bundle, path) in _classes


def remember(name: str, bundle: Bundle) -> None:
    """Notes the version that a name stands for."""
    _loaded[name] = f"{name.partition('@')[0]}@{bundle.digest}"


def load(name: str, kind: str) -> type[Any]:
    """Returns the class of a name; raises UserError if there is none, or if it is of another kind."""
    with _lock:
        if name in _classes:
            return _of_kind(_classes[name], name, kind)
        bundle, found = _find(name)
        cls = _of_kind(found, name, kind)
        register(cls, bundle, found.__qualname__)
        remember(name, bundle)
        return cls


def of_kind(thing: Any, kind: str) -> type[Any]:
    """Returns the class, or the class of that kind that a class or function stands for; raises UserError if neither."""
    with _lock:
        cls = _of_kind(thing, thing.__qualname__, kind)
        if getattr(thing, "kind", ""):
            require_unchanged(cls)
            return cls
        bundle = session.bundle_of(thing) or _bundle_of(thing)
        if bundle is None:
            raise UserError(
                f"{thing.__qualname__} must be at the top level of a file or of a notebook's cell; move it."
            )
        known = _classes.get(named(bundle, thing.__qualname__))
        if known is None:
            library.keep(bundle)
            register(cls, bundle, thing.__qualname__)
        return cls if known is None else known


def require_unchanged(cls: type[Any]) -> None:
    """Raises UserError if a part of the session that a class uses has changed since the class was named."""
    name = _names.get(cls, "")
    bundle = session.bundle_of(getattr(cls, "stands_for", cls)) if library.of_session(name) else None
    if bundle and not name.endswith(f"@{bundle.digest}"):
        raise UserError(f"code that {cls.__name__} uses has changed since; define {cls.__name__} again, too.")


def is_of_another_session(name: str) -> bool:
    """Whether a name with a version is of code of another session, which cannot run here."""
    version = name.partition("@")[2]
    return library.of_session(name) and bool(version) and library.find(version) is None


def call(cls: type[Any], name: str) -> None:
    """Gives a class without code a name in text forms."""
    _names[cls] = name


def with_versions(text: str) -> str:
    """Returns a text in which every name that this process has loaded has the version that it stood for."""
    return re.sub(r'[^\s(),="]+', lambda word: _loaded.get(word[0], word[0]), text)


def kind_of(name: str) -> str:
    """Returns the kind of the class of a name; raises UserError if it derives from none of ours."""
    with _lock:
        found = _find(name)[1]
        kind: str = getattr(found, "kind", "") or next((kind for kind, made in stand_for.items() if made(found)), "")
    if not kind:
        raise UserError(
            f"{name} must derive from turnier's Game, Agent, Evaluator or Sampler, or have a method act(position);"
            " `turnier new agent NAME` writes a class to begin with."
        )
    return kind


def _parts_of(name: str) -> re.Match[str]:
    """Returns the groups of a name; raises UserError if it is not the name of a class."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise UserError(
            f"a class of your own is named as FILE.py:CLASS, MODULE:CLASS or FILE.py:CLASS@VERSION, got {name!r};"
            " write it without spaces, brackets and commas."
        )
    return match


def _find(name: str) -> tuple[Bundle, Any]:
    match = _parts_of(name)
    bundle = _version(name, match["place"], match["version"])
    library.keep(bundle)
    known = _classes.get(named(bundle, match["class"]))  # a program may have imported it by its own means
    return bundle, known or _class_of(_module(bundle), match["class"], name)


def name_of(cls: type[Any]) -> str:
    """Returns the full name of a class that is not ours; just its own name if it is not in a file."""
    with _lock:
        if cls not in _names:
            bundle = session.bundle_of(cls) or _bundle_of(cls)
            if bundle is None:
                return cls.__name__
            library.keep(bundle)
            register(cls, bundle, cls.__qualname__)
        return _names[cls]


def folder_of(cls: type[Any], name: str = "") -> str:
    """Returns the folder of the file that a class is in, empty if that is not known.

    Args:
        cls: the class; equal files in two folders are one class.
        name: as written by the user, which may say which of the folders is meant.
    """
    place = name.partition("@")[0].rpartition(":")[0]
    found = module_of(cls.__module__)
    bundle = found[0] if found else getattr(cls, "code", None)  # code of a class that runs in another process
    if isinstance(bundle, Bundle):
        file = f"{bundle.folder}/{bundle.place}" if bundle.folder else ""
    else:
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    if place and _is_file(place) and os.path.isfile(place):
        file = place
    return str(Path(file).absolute().parent) if file and not file.startswith("<") else ""


def shortened(name: str) -> str:
    """Returns a full name with only the beginning of its version, which `load` takes as well."""
    place, _, version = name.rpartition("@")
    return f"{place}@{version[:SHOWN_DIGITS]}" if place else name


def named(bundle: Bundle, cls: str) -> str:
    return f"{bundle.place}:{cls}@{bundle.digest}"


def current(place: str) -> Bundle:
    """Returns the code of a file or module as it is now."""
    if _is_file(place):
        path = Path(place)
        if not os.path.isfile(path):
            others = [each.name for each in path.parent.glob("*.py")] if os.path.isdir(path.parent) else []
            hint = nearest(path.name, others) or "name the file by its path from here."
            raise UserError(f"there must be a file {place}, got none; {hint}")
        return gather(path.name, on_disk(path.parent), str(path.parent.absolute()))
    root, file = _found_module(place)
    if file is not None:  # a module without a package, not installed: the same class as by its file
        return gather(file.name, on_disk(file.parent), str(file.parent))
    return gather(place, on_disk(root), str(root))


def _version(name: str, place: str, version: str | None) -> Bundle:
    """Returns a version of the code of a place."""
    if not version and place != SESSION:
        return current(place)
    version = version or ""
    if re.fullmatch(rf"[0-9a-f]{{{SHOWN_DIGITS},{DIGITS}}}", version):
        bundle = library.find(version)
        if bundle is None and place != SESSION and (os.path.isfile(place) or not _is_file(place)):
            bundle = current(place)
            bundle = bundle if bundle.digest.startswith(version) else None
        if bundle is None and len(version) == DIGITS and place != SESSION:
            raise UserError(
                f"the code of {name} must be known here, but this user has never named it, and {place} is not (or no"
                f" longer) that version; `turnier show {shlex.quote(f'{place}@{version}')} --save FOLDER` writes the"
                " code in the store, and naming the class in it makes it known."
            )
        if bundle is not None:
            return bundle
    if place == SESSION:
        raise UserError(
            f"{name} must be in a file to play here, but it was defined in a notebook or another session; move its code"
            " into one, such as `turnier new` writes."
        )
    if not _is_file(place):
        raise UserError(
            f"a git revision needs a file, got the module {place} in {name}; write FILE.py:CLASS@{version}."
        )
    folder, file = Path(place).parent, Path(place).name
    bundle = gather(file, at_revision(folder, version, name))
    if not bundle.files:
        raise UserError(f"{place} must be in the git revision {version}, but it is not; name a later one.")
    return bundle


def _is_file(place: str) -> bool:
    return place.endswith(".py") or "/" in place


def _found_module(module: str) -> tuple[Path, Path | None]:
    """Returns the folder of a module's package; also the module's file if it has no package and is not installed."""
    where = Path.cwd().as_posix()
    if where not in sys.path and "" not in sys.path:  # `python -m` has it there, scripts of pip do not
        sys.path.insert(0, where)
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not (Path(spec.origin or "").is_file() or spec.submodule_search_locations):
        raise UserError(f"the module {module} must have a file, but none was found; install it, or name FILE.py:CLASS.")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).parent, None
    file = Path(str(spec.origin)).absolute()
    installed = {"site-packages", "dist-packages"} & set(file.parts)
    return file.parent, None if installed else file


def _module(bundle: Bundle) -> ModuleType:
    """Returns the bundle's module; raises UserError if its code fails, with the place in the user's file."""
    try:
        if not _is_file(bundle.place) and _imports_the_same(bundle):
            _imported[bundle.module] = bundle.digest
            return importlib.import_module(bundle.module)
        return import_bundle(bundle)
    except UserError:
        raise
    except Exception as failure:
        raise UserError(f"{bundle.place} must be importable, got {described(failure, bundle)}; fix it.") from None


def _imports_the_same(bundle: Bundle) -> bool:
    """Whether Python itself would import this very version: then a package's other files work, too."""
    if bundle.module in sys.modules:
        return _imported.get(bundle.module) == bundle.digest
    try:
        return current(bundle.place).digest == bundle.digest
    except UserError:
        return False


def described(failure: BaseException, bundle: Bundle | None = None) -> str:
    """Returns an exception as a phrase with the last line of the author's code that it passed."""
    text = f"{type(failure).__name__}: {failure}".rstrip(".")
    if isinstance(failure, FileNotFoundError) and bundle:
        text += f"; files that {bundle.place} names in {DATA} travel with it"
    frames = traceback.extract_tb(failure.__traceback__)
    folder = bundle.folder if bundle else ""
    own = [f for f in frames if (folder and f.filename.startswith(folder)) or f.filename.startswith("<")]
    own = [f for f in own if not f.filename.startswith("<frozen")]
    if bundle and bundle.place == SESSION:
        cells = [f for f in frames if not os.path.isfile(f.filename) and not f.filename.startswith("<frozen")]
        return f"{text} (line {cells[-1].lineno} of its cell)" if cells else text
    return f"{text} ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else text


def _class_of(module: ModuleType, path: str, name: str) -> Any:
    """Returns the class or function of that path in a module."""
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    if not inspect.isclass(found) and not isinstance(found, FunctionType):
        known = [each for each, value in vars(module).items() if inspect.isclass(value) or inspect.isfunction(value)]
        own = [each for each in known if getattr(module, each).__module__ == module.__name__]
        hint = nearest(path, own) or "write it there, or name another one."
        raise UserError(f"there must be a class or function {path} in {name.partition(':')[0]}, got none; {hint}")
    return found


def _of_kind(cls: Any, name: str, kind: str) -> type[Any]:
    """Returns the class, or the class of that kind that a class or function stands for; raises UserError if neither."""
    got: str = getattr(cls, "kind", "")
    if not got and kind in stand_for and (standing := stand_for[kind](cls)):
        return standing
    if got != kind:
        plain = " or have a method act(position)" if kind in stand_for else ""
        what = f"its kind is {got}" if got else "it does not"
        raise UserError(
            f"{name} must derive from turnier's class {kind.capitalize()}{plain}, but {what}; `turnier new {kind} NAME`"
            " writes one to begin with."
        )
    forgotten = [key for key, value in vars(cls).items() if isinstance(value, dataclasses.Field)]
    if forgotten:
        raise UserError(
            f"{name} must be a dataclass to have the parameter {forgotten[0]}; write @dataclass(frozen=True) above it."
        )
    missing = [key for key in dir(cls) if getattr(getattr(cls, key, None), "__isabstractmethod__", False)]
    if missing:
        raise UserError(
            f"{name} must have the methods that every {kind} has, but it lacks: {', '.join(missing)}; write them."
        )
    made: type[Any] = cls
    return made


def register(cls: type[Any], bundle: Bundle, path: str, stands_in: bool = False) -> None:
    """Notes the name of a class, or of its stand-in in a process that does not run its code."""
    name = named(bundle, path)
    if not stands_in:
        _classes[name] = cls
    _names.setdefault(cls, name)
    if "name" not in vars(cls):
        cls.name = cls.__name__


def _bundle_of(cls: type[Any]) -> Bundle | None:
    """Returns the code of a class that Python has imported; raises UserError if it has changed since."""
    found = module_of(cls.__module__)
    if found:
        return found[0]
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if module is None or not file or "<locals>" in cls.__qualname__ or not Path(file).is_file():
        return None
    bundle = current(file if module.__name__ == "__main__" else module.__name__)
    text = bundle.files.get(f"{bundle.module.replace('.', '/')}.py", "")
    if text and not _runs(module, text):
        raise UserError(
            f"{Path(file).name} has changed since this process imported it; start Python again (in a notebook, its"
            " kernel), so that games are stored with the code that plays them."
        )
    return bundle


def _runs(module: ModuleType, text: str) -> bool:
    """Whether the functions and methods of a module are those of a text; nested ones are not compared."""
    if not isinstance(getattr(module, "__loader__", None), importlib.machinery.SourceFileLoader):
        return True  # such as the loader of pytest, which rewrites modules
    written: dict[str, CodeType] = {}
    waiting = [compile(text, "", "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        written[code.co_qualname] = code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    own = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    own += [value for cls in own if inspect.isclass(cls) for value in vars(cls).values()]
    functions = [getattr(value, "py_func", value) for value in own]  # of kernels
    codes = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    return not any(
        _differ(written.get(code.co_qualname), code)
        for code in codes
        if code.co_filename == module.__file__ and "<" not in code.co_qualname
    )


def _differ(one: CodeType | None, other: CodeType) -> bool:
    def plain(code: CodeType) -> tuple[Any, ...]:
        return code.co_code, code.co_names, [each for each in code.co_consts if not isinstance(each, CodeType)]

    return one is None or plain(one) != plain(other)
