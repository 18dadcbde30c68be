"""The problems of the thesis' evaluations, and the tiles of its evaluation data."""

import dataclasses

CLX_AI_PLACES = ("h:h:h", "0:0:h", "4:2:h", "h:h:0", "h:0:5", "0:0:0", "0:1:2", "0:3:6", "4:2:5", "1:6:7")
SHAPES = ("square", "fat by thin", "thin by fat")

KAROLINA = "karolina-hgx-a100"
REGULAR_SIZES = [*range(5120, 16384 + 1, 1024), *range(20480, 32768 + 1, 2048)]  # thesis 4.3.1.3
XT_LONGEST, XKBLAS_TILE = 8192, 1600


def karolina_tile(library: str, least: int) -> int | None:
    """The tile in the library's evaluation data, by the least of M, N and K; None if the data use the library's own
    rule."""
    return {"cuBLASXt": max(1, min(least // 4, XT_LONGEST)), "XKBLAS": XKBLAS_TILE}.get(library)


@dataclasses.dataclass(frozen=True)
class Product:
    """A DGEMM with its placement."""

    m: int
    n: int
    k: int
    place: str

    @property
    def sizes(self) -> str:
        return f"{self.m},{self.n},{self.k}"

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    @property
    def shape(self) -> str:
        return SHAPES[0 if self.k == self.m else 1 if self.k < self.m else 2]


def clx_ai_dataset(step: int) -> list[Product]:
    """Thesis 3.3.2.2: the 630 problems for step 1; for step 2, with least sizes and steps doubled, the 250 of 3.3.4."""
    kilo = 1024
    shapes = [(side * kilo,) * 3 for side in range(2 * step, 23, step)]
    shapes += [(fat * kilo, fat * kilo, fat * kilo // r) for fat in range(8 * step, 33, 4 * step) for r in (2, 8, 32)]
    shapes += [(fat * kilo // r, fat * kilo // r, fat * kilo) for fat in range(12 * step, 37, 4 * step)
               for r in (2, 8, 32)]
    return [Product(*shape, place) for place in CLX_AI_PLACES for shape in shapes]
