"""One Parquet file of a dataset: runs are read and added, and the rows of other runs are taken from the file before.

Its rows are in the order of their tags, so that a query for a tag reads few others. For that, the points of all of its
runs are in memory: of a large run, or of small ones whose event files have 64 MiB together.

This is the unit of work of an export: it can be done by another process or machine, which reads the event files itself
and writes straight to the target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from summaries.optional import needs
from summaries.patterns import matcher
from summaries.presenting.tables import chosen, unicode
from summaries.reading.run import read_files
from summaries.storage.credentials import without_credentials
from summaries.storage.files import read_file
from summaries.storage.names import join
from summaries.storage.outputs import new_file
from summaries.storage.protocols import expecting
from summaries.tools.formats.parquet_file import long_tables, new_long_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from summaries.errors import Fault
    from summaries.reading.series import Series
    from summaries.storage.protocols import StoredFile

__all__ = ["Part", "WritePart", "WrittenPart"]


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a dataset, and what it has to contain.

    Attributes:
        file: its name.
        runs: the event files of the runs to read, by run.
        kept: the runs whose rows are taken from the file as it is.
        removed: the runs whose rows are in the file as it is, and are left out.
    """

    file: str
    runs: Mapping[str, Sequence[StoredFile]]
    kept: Sequence[str] = ()
    removed: Sequence[str] = ()

    @property
    def size(self) -> int:
        """How many bytes of event files are read for it."""
        return sum(file.size for file in self.stored_files())

    def stored_files(self) -> list[StoredFile]:
        """The event files that are read for it."""
        return list(chain.from_iterable(self.runs.values()))


@dataclass
class WrittenPart:
    """What became of a part.

    Attributes:
        points: how many rows each run has that was read.
        faults: the faults in the files of each.
        failed: why the others could not be read.
    """

    points: dict[str, int] = field(default_factory=dict)
    faults: dict[str, tuple[Fault, ...]] = field(default_factory=dict)
    failed: dict[str, OSError] = field(default_factory=dict)


@dataclass(frozen=True)
class WritePart:
    """Writes parts of a dataset; picklable.

    Attributes:
        target: the dataset's directory or address.
        storage_options: for an address, the options of its file system.
        tags: which tags are written.
        latest: whether what a restart superseded is left out.
    """

    target: str
    storage_options: Mapping[str, object] | None
    tags: Sequence[str] | None
    latest: bool

    def __call__(self, part: Part) -> WrittenPart:
        """Write one part, in place of the file that is there.

        Raises:
            OSError: it cannot be written; then the file that is there stays.
            ImportError: pyarrow is missing.
        """
        path = join(self.target, part.file)
        done = WrittenPart()
        target = new_file(path, replace=True, follow=False, storage_options=self.storage_options)
        with target as new, new_long_file(new, strings=True) as parquet:
            read = {name: scalars for name, files in part.runs.items() if (scalars := self._read(name, files, done))}
            before = self._rows_before(path, part, done) if part.kept or done.failed else {}
            tags = {tag for scalars in read.values() for tag in scalars}
            for tag in sorted(tags | before.keys(), key=unicode):
                own = long_tables({name: {tag: scalars[tag]} for name, scalars in read.items() if tag in scalars})
                for table in (*before.get(tag, ()), *own):
                    parquet.add(table)
                parquet.settle()
        return done

    def _read(self, name: str, files: Sequence[StoredFile], done: WrittenPart) -> dict[str, Series]:
        """The points of a run; none if it cannot be read."""
        try:
            run = read_files(files, tags=self.tags)
        except OSError as error:  # the other runs go on
            done.failed[name] = error
            return {}
        scalars = chosen(run.scalars, matcher(self.tags), latest=self.latest)
        done.points[name] = sum(map(len, scalars.values()))
        done.faults[name] = run.faults
        return scalars

    def _rows_before(self, path: str, part: Part, done: WrittenPart) -> dict[str, list[Any]]:
        """What runs have in the file as it is, as tables of each tag: those kept, and those that cannot be read now."""
        pa, compute = needs("pyarrow", "export"), needs("pyarrow.compute", "export")
        data = read_file(path, self.storage_options)
        if data is None:
            if part.kept:
                shown = without_credentials(path)
                raise FileNotFoundError(
                    f"a file of the dataset is missing: {shown}; export again, with incremental=False"
                )
            return {}
        wanted = pa.array([unicode(name) for name in (*part.kept, *done.failed)], pa.string())
        tables: dict[str, list[Any]] = {}
        with needs("pyarrow.parquet", "export").ParquetFile(pa.BufferReader(data)) as old:
            for number in range(old.num_row_groups):
                table = old.read_row_group(number)
                own = table.filter(compute.is_in(table["run"].cast(pa.string()), value_set=wanted))
                for position, label in enumerate(("run", "tag")):  # without the names of those that are left out
                    own = own.set_column(position, label, own[label].cast(pa.string()).dictionary_encode())
                for tag in compute.unique(own["tag"]).to_pylist():
                    tables.setdefault(tag, []).append(own.filter(compute.equal(own["tag"], tag)))
        return tables

    def expecting(self, parts: Sequence[Part]) -> AbstractContextManager[object]:
        """While this context lasts, these parts are written, so that files in a store may be fetched ahead."""
        return expecting([file for part in parts for file in part.stored_files()])
