"""Recognise the text of a picture, as that of a scanned page."""

import io
from pathlib import Path

from kgp_neo4j.corpus.load.pdf.document import read_pdf
from kgp_neo4j.environment.files import shown
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError

#: Dots per inch where a picture does not say; dots and pages at most.
_USUAL, _MOST_DOTS, _MOST_PAGES = 150, 100_000_000, 100


def read_picture(path: Path, data: bytes) -> SourceDocument:
    """Return the text of a picture; each picture of a .tif file is a page.

    Raises InputError for a picture that is damaged or too large, and for one without a text.
    """
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    where = shown(path)
    pages = []
    try:
        with Image.open(io.BytesIO(data)) as picture:
            frames = getattr(picture, "n_frames", 1)
            if picture.width * picture.height * frames > _MOST_DOTS or frames > _MOST_PAGES:
                raise InputError("a picture too large to be read", where=where, hint="Split it.")
            dots = float(picture.info.get("dpi", (_USUAL,))[0])
            for frame in ImageSequence.Iterator(picture):
                if frame.mode.startswith("I"):  # greys of 16 bits
                    frame = frame.point(lambda grey: grey / 256).convert("L")
                turned = ImageOps.exif_transpose(frame).convert("RGBA")
                paper = Image.new("RGBA", turned.size, "white")
                pages.append(Image.alpha_composite(paper, turned).convert("RGB"))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError("no picture, or a damaged one", where=where) from error
    scan = io.BytesIO()
    dots = dots if 72 <= dots <= 600 else _USUAL
    pages[0].save(scan, "PDF", save_all=True, append_images=pages[1:], resolution=dots, quality=95)
    try:
        return read_pdf(path, scan.getvalue())
    except InputError as error:
        hint = error.hint if "ocr" in str(error) else None
        raise InputError("no text is recognised in the picture", where=where, hint=hint) from error
