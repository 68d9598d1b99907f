"""Read and prepare the keys that several heads share, once for all of these heads."""

from functools import cached_property

import numpy as np

from boundpaper.store.files import digest
from keyquery.heads.moments import Moments, class_moments
from keyquery.heads.pairs import Keys, competing
from keyquery.heads.plasticity import PlasticityOptions
from keyquery.models.captures import layout
from keyquery.models.captures.reading import Capture, Vectors
from keyquery.models.captures.sampling import HeadIndex


class KeyHead:
    """Keys of one key head of a capture, read and prepared on first use.

    `head` is any query head that reads these keys; `options` are those of the analysis.
    """

    def __init__(self, capture: Capture, head: HeadIndex, options: PlasticityOptions) -> None:
        self._capture, self._head, self._options = capture, head, options

    def are_read_by(self, head: HeadIndex) -> bool:
        """Return whether a head of the capture reads these keys."""
        return (self._head.layer, self._head.key) == (head.layer, head.key)

    @cached_property
    def digest(self) -> str:
        """Content hash of the keys' file."""
        return digest(self._capture.root / layout.folder(self._head.layer, self._head.key, "k") / layout.FILE)

    @cached_property
    def vectors(self) -> Vectors:
        """The keys as captured."""
        return self._capture.keys(self._head)

    @cached_property
    def positions(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Positions of the keys in tokens."""
        return self.vectors.position.astype(np.int64)

    @cached_property
    def documents(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Documents of the keys."""
        return self.vectors.document.astype(np.int64)

    @cached_property
    def moments(self) -> Moments:
        """Moments of the keys."""
        return class_moments(self.vectors.vectors, self.positions, self._options.precision)

    @cached_property
    def groups(self) -> Keys:
        """The keys in groups of competitors."""
        capture = self._capture
        return competing(
            self.vectors.vectors, self.positions, self.documents, capture.context, capture.buckets, self._options.pairs
        )
