"""Pictures of models by matplotlib, and the report, a page for a browser."""

from .critical_difference_display import CriticalDifferenceDisplay
from .distance_displays import DistanceDistributionDisplay, DistancePathDisplay
from .hyperplane import path_step_name as path_step_name
from .learning_displays import TrajectoryDisplay, VersionSpaceDisplay
from .page import write
from .page.column_importance import relevances_of as relevances_of
from .page.contents import MOST_MEASURED_ROWS as MOST_MEASURED_ROWS
from .page.contents import Certified as Certified
from .page.contents import Story as Story
from .page.contents import describe_data as describe_data
from .page.contents import sample_rows as sample_rows
from .page.document import write_page as write_page
from .page.evidence import Evidence as Evidence
from .page.evidence import pool_answers as pool_answers
from .page.lecture import write_lecture
from .page.model_card import card_record as card_record
from .page.model_card import edits_of as edits_of
from .page.model_card import model_card as model_card
from .page.provenance import data_fingerprint as data_fingerprint
from .page.provenance import library_versions as library_versions
from .page.provenance import loading_code as loading_code
from .page.provenance import versions_and_date as versions_and_date
from .path_displays import ConvergenceDisplay, PrototypePathDisplay
from .path_displays import path_differences as path_differences
from .path_displays import target_hyperplane as target_hyperplane
from .projection_display import ProjectionDisplay
from .prototype_display import PrototypeDisplay
from .relevance_display import EffectDisplay, RelevanceDisplay
from .style import COLOURS as COLOURS
from .style import LINES as LINES
from .style import class_marker as class_marker
from .style import colour as colour
from .style import percent as percent
from .subject import Subject as Subject

__all__ = [
    "ConvergenceDisplay",
    "CriticalDifferenceDisplay",
    "DistanceDistributionDisplay",
    "DistancePathDisplay",
    "EffectDisplay",
    "ProjectionDisplay",
    "PrototypeDisplay",
    "PrototypePathDisplay",
    "RelevanceDisplay",
    "TrajectoryDisplay",
    "VersionSpaceDisplay",
    "write",
    "write_lecture",
]
