# Public names of `import keyquery`, with their modules and types; `boundpaper.offered` reads this file.
from keyquery.arrays import plasticity as plasticity
from keyquery.captured import analyse as analyse
from keyquery.captured import capture as capture
from keyquery.compared import compare as compare
from keyquery.comparisons.comparison import Comparison as Comparison
from keyquery.experimented import run as run
from keyquery.heads.head import Head as Head
from keyquery.heads.plasticity import Plasticity as Plasticity
from keyquery.heads.plasticity import PlasticityOptions as PlasticityOptions
from keyquery.models.captures.reading import Capture as Capture
from keyquery.models.captures.reading import open_capture as open_capture
from keyquery.models.interventions import Intervention as Intervention
from keyquery.opened import Model as Model
from keyquery.opened import intervene as intervene
from keyquery.opened import load as load
from keyquery.saved import save as save

__all__: list[str]
__version__: str

def experiments() -> dict[str, str]: ...
