"""Import a module where the caller's own stack may be nearly used up.

Modules that few processes need are imported late, and an import takes some fifty frames. What
`triage` answers must not depend on how many the caller has left.
"""

from __future__ import annotations

__all__ = ["load_on_fresh_stack"]


def load_on_fresh_stack(module: str) -> None:
    """Import `module` on a thread of its own; afterwards an import statement finds it loaded."""
    import _thread

    loaded = _thread.allocate_lock()
    loaded.acquire()

    def load() -> None:
        try:
            __import__(module)
        finally:
            loaded.release()

    _thread.start_new_thread(load, ())
    loaded.acquire()
