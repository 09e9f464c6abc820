"""The bytes of an event file: checksums, records, messages. No files, no clock, no threads.

A writer of scalars needs none of the messages in `pb`, which take as long to import as all else that it needs.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    from summaries.wire import pb as pb
else:
    _, __getattr__, __dir__ = lazy(__name__, {"": "pb"})
