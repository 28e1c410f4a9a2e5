"""Find the images and PDFs that documents were read from, and link or embed them in a page."""

import base64
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote

from stickler_cli.core.problems import Problem, UsageError, import_extra, require
from stickler_cli.core.real_paths import real_path
from stickler_cli.core.remote import states_user
from stickler_cli.score.detail import PageSources, Picture
from stickler_cli.score.record import Run

if TYPE_CHECKING:
    from PIL.Image import Image

SOURCES: Final = "--sources"
EMBED: Final = "--embed-sources"
SUFFIXES: Final = (".pdf", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp")
MOST_SHEETS: Final = 5
"""Maximum number of pictures of pages that an HTML page embeds for each document."""

_PICTURE: Final = "a picture of a document"
_ADDRESS: Final = re.compile(r"https?://[^\s{}/]+/\S*\Z")
_ACROSS: Final = 1400  # width in pixels, at which small print of a letter page is legible
_QUALITY: Final = 70  # quality of JPEG; a page takes some 150 kB


SourcesOf: TypeAlias = Callable[[Run, Sequence[str]], tuple[PageSources, list[str]]]
"""A function that finds images and PDFs. It takes a run and the files of its HTML pages. It returns
what to link or embed in these pages, and notes on problems."""


def checked_sources(sources: str | None, embed: int = 0) -> SourcesOf | None:
    """Return a function that finds the images and PDFs of documents; None if none are requested.

    `sources` is a directory, or an address with placeholders. Pictures of pages are embedded for
    `embed` documents.

    Raises:
        UsageError: the options name no sources that can be shown.
        UnavailableError: pictures are requested, but the package to make them is missing.
    """
    if sources is None:
        if embed:
            raise UsageError(
                [Problem(EMBED, "--sources is missing", "a directory with the original documents")]
            )
        return None
    if is_address(sources):
        if not _ADDRESS.match(sources) or "{id}" not in sources:
            expected = "a directory, or an http(s) address with {id} after its host"
            raise UsageError([Problem(SOURCES, f"the value is {sources!r}", expected)])
        if states_user(sources):
            finding = (
                "the address contains a user name or password, which every reader of the page "
                "could see"
            )
            raise UsageError([Problem(SOURCES, finding, "an address without them")])
        if embed:
            found, hint = (
                "--sources is an address, but pictures can be embedded only from a directory",
                "give --sources a directory",
            )
            raise UsageError([Problem(EMBED, found, hint=hint)])
        template = PageSources(template=sources)
        return lambda run, pages: (template, [])
    if not Path(sources).is_dir():
        expected = "a directory, or an address such as https://host/scans/{id}.pdf#page={page}"
        raise UsageError([Problem(SOURCES, f"the directory {sources} does not exist", expected)])
    for module in ("PIL", "pypdfium2") if embed else ():
        require(module, _PICTURE, "sources", EMBED)
    return partial(_sources_in, sources, embed)


def is_address(sources: str) -> bool:
    """Return whether sources of images are an address with placeholders, not a directory."""
    return "://" in sources or "{" in sources


def _sources_in(
    directory: str, embed: int, run: Run, pages: Sequence[str]
) -> tuple[PageSources, list[str]]:
    """Return links to the images and PDFs in a directory, and notes on problems.

    Links are relative to the HTML pages. For the `embed` documents with the lowest scores, the
    result also has pictures of their pages, which are embedded in the HTML pages.
    """
    files = _list_files(directory)
    folders = {real_path(page).parent for page in pages} or {Path.cwd()}
    folder = folders.pop() if len(folders) == 1 else None
    links = {name: _link(files[name], folder) for name in _ids_of(run) if name in files}
    notes = []
    n_without = sum(name not in files for name in _ids_of(run))
    if n_without:
        documents_text = f"{n_without} documents have" if n_without > 1 else "1 document has"
        notes.append(
            f"{SOURCES} {directory}: {documents_text} no file of the same name in this directory"
        )
    pictures: dict[str, Sequence[Picture]] = {}
    comparisons = run.detail.comparisons if run.detail else []
    for _, name, _ in comparisons[:embed]:
        if name in files:
            try:
                pictures[name] = [*_pictures(files[name], _list_page_numbers(run, name))]
            except (OSError, ValueError, SyntaxError, RuntimeError) as error:
                notes.append(f"no picture can be made from {files[name]} ({error})")
    return PageSources(links=links, pictures=pictures), notes


def _ids_of(run: Run) -> list[str]:
    blocks = run.evaluation.ledger.blocks
    return sorted(blocks.ids()) if blocks else []


def _list_files(folder: str) -> Mapping[str, Path]:
    """Return a dict from document ids to the images and PDFs in a directory.

    A file `a/b.png` belongs to the ids `a/b` and `a/b.png`. If several files fit an id, the first
    one is taken, sorted by path.
    """
    files_by_id: dict[str, Path] = {}
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            relative_path = path.relative_to(folder)
            files_by_id.setdefault(relative_path.with_suffix("").as_posix(), path)
            files_by_id.setdefault(relative_path.as_posix(), path)
    return files_by_id


def _link(file: Path, folder: Path | None) -> str:
    if folder is None:
        address = real_path(file).as_uri()
    else:
        address = quote(Path(os.path.relpath(real_path(file), folder)).as_posix())
    return f"{address}#page={{page}}" if file.suffix.lower() == ".pdf" else address


def _list_page_numbers(run: Run, name: str) -> list[int]:
    """Return the numbers of the pages that are embedded as pictures, counted from 1.

    These are the first page of the document, and the pages on which values have boxes. There are at
    most `MOST_SHEETS`.
    """
    boxes = run.detail.boxes.get(name, []) if run.detail else []
    named = {box.page for box in boxes}
    sheets = {int(page) for page in named if page is not None and page.isdecimal()}
    first = 1 if 0 in sheets else 0
    return sorted({1, *(sheet + first for sheet in sheets)})[:MOST_SHEETS]


def _pictures(file: Path, sheets: Sequence[int]) -> Iterator[Picture]:
    if file.suffix.lower() == ".pdf":
        yield from _of_pdf(file, sheets)
        return
    with _imaging("PIL.Image").open(file) as image:
        frames: int = getattr(image, "n_frames", 1)
        for sheet in sheets:
            if sheet <= frames:
                image.seek(sheet - 1)
                upright = _imaging("PIL.ImageOps").exif_transpose(image)
                yield _picture(sheet, upright, upright.width, upright.height)


def _of_pdf(file: Path, sheets: Sequence[int]) -> Iterator[Picture]:
    document = _imaging("pypdfium2").PdfDocument(file)
    try:
        for sheet in sheets:
            if sheet <= len(document):
                page = document[sheet - 1]
                width, height = page.get_size()
                image = page.render(scale=_ACROSS / max(width, 1)).to_pil()
                yield _picture(sheet, image, width, height)
    finally:
        document.close()


def _imaging(module: str) -> Any:
    return import_extra(module, _PICTURE, "sources", EMBED)


def _picture(sheet: int, image: "Image", width: float, height: float) -> Picture:
    small = image.convert("RGB")
    small.thumbnail((_ACROSS, 4 * _ACROSS))
    stream = io.BytesIO()
    small.save(stream, "JPEG", quality=_QUALITY, optimize=True)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return Picture(
        sheet=sheet, address=f"data:image/jpeg;base64,{data}", width=width, height=height
    )
