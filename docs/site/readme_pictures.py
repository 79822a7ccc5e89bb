"""Draw the pictures of README anew: readme_pictures.py [FOLDER].

They are those of the gallery, stored in docs/images: they are seen wherever README is.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import gallery
import kept

NAMES = "tag_names", "graph_denoise", "own_segments"
FOLDER = kept.ROOT / "docs" / "images"


def main(folder: Path = FOLDER) -> None:
    for name in NAMES:
        made = gallery.run(gallery.SCRIPTS / f"{name}.py")
        shutil.copyfile(made / "1.png", folder / f"{name}.png")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
