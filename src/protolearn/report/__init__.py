"""Pictures of models by matplotlib, and the report, a page by plotly; imported when needed."""

from .confusion import ConfusionDisplay
from .convergence import ConvergenceDisplay
from .convergence import difference as difference
from .convergence import target as target
from .critical_difference import BAR_STEP as BAR_STEP
from .critical_difference import FIRST_BAR as FIRST_BAR
from .critical_difference import LEVEL_STEP as LEVEL_STEP
from .critical_difference import CriticalDifferenceDisplay
from .critical_difference import joined as joined
from .distance_distribution import DistanceDistributionDisplay
from .distance_path import DistancePathDisplay
from .hyperplane import step_name as step_name
from .margin_history import MarginHistoryDisplay
from .margins import MarginDisplay
from .page import write
from .page.evidence import Evidence as Evidence
from .page.evidence import pooled as pooled
from .page.made import data_fingerprint as data_fingerprint
from .page.made import surroundings as surroundings
from .page.made import versions as versions
from .page.relevances import relevances_of as relevances_of
from .page.shown import OF_LINEAR as OF_LINEAR
from .page.story import MOST_ROWS as MOST_ROWS
from .page.story import Story as Story
from .page.story import some_rows as some_rows
from .page.write import about as about
from .page.write import how_to_load as how_to_load
from .page.write import write_page as write_page
from .projection import ProjectionDisplay
from .prototype_path import PrototypePathDisplay
from .prototypes import PrototypeDisplay
from .reject import RejectDisplay
from .relevance import RelevanceDisplay
from .roc import RocDisplay
from .style import COLOURS as COLOURS
from .style import LINES as LINES
from .style import colour as colour
from .style import mark as mark
from .style import percent as percent
from .subject import Subject as Subject

__all__ = [
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "DistanceDistributionDisplay",
    "DistancePathDisplay",
    "MarginDisplay",
    "MarginHistoryDisplay",
    "ProjectionDisplay",
    "PrototypeDisplay",
    "PrototypePathDisplay",
    "RejectDisplay",
    "RelevanceDisplay",
    "RocDisplay",
    "write",
]
