"""Make the fonts of the figures: `python3 subset.py FOLDER_OF_LIBERATION_SANS` (needs fonttools)."""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

# ASCII, Latin-1, Latin Extended-A, Greek, punctuation and spaces, super- and subscripts,
# currency, letter-like signs, fractions, arrows, maths, box corners and plain shapes.
RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x2C6, 0x2DD), (0x370, 0x3FF),
    (0x2000, 0x2044), (0x2070, 0x208E), (0x20A0, 0x20BF), (0x2100, 0x215E),
    (0x2190, 0x21FF), (0x2200, 0x22FF), (0x25A0, 0x25CF), (0xFFFD, 0xFFFD),
]
# The licence reserves the name Liberation for unchanged fonts.
NAME = "Agon Figures"


def main(folder):
    for style in ("Regular", "Bold"):
        font = TTFont(pathlib.Path(folder) / f"LiberationSans-{style}.ttf", recalcTimestamp=False)
        options = subset.Options()
        # No kerning and no ligatures: a text is as wide as the sum of its letters everywhere.
        options.layout_features = []
        options.hinting = False
        options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
        options.drop_tables += ["FFTM", "GPOS", "GSUB", "GDEF", "kern", "PCLT", "meta"]
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[code for low, high in RANGES for code in range(low, high + 1)])
        cutter.subset(font)
        texts = {1: NAME, 2: style, 3: f"{NAME} {style}", 4: f"{NAME} {style}",
                 6: f"AgonFigures-{style}"}
        for record in font["name"].names:
            if record.nameID in texts:
                record.string = texts[record.nameID]
        font.save(pathlib.Path(__file__).parent / f"AgonFigures-{style}.ttf")


if __name__ == "__main__":
    main(sys.argv[1])
