"""Tables in, the user's units and words out."""

from ..reading import ReadTable, TableFileError, read_table
from .columns import BEYOND as BEYOND
from .columns import OTHER as OTHER
from .columns import CategoryColumn, NumberColumn, TextColumn
from .columns import Column as Column
from .columns import column_places as column_places
from .columns import frequent_categories as frequent_categories
from .columns import reads_as_text as reads_as_text
from .encoder import UNSEEN_CATEGORIES as UNSEEN_CATEGORIES
from .encoder import TableEncoder
from .pipeline import UNUSED_COLUMN as UNUSED_COLUMN
from .pipeline import change_texts as change_texts
from .pipeline import column_texts as column_texts
from .pipeline import distance_unit as distance_unit
from .pipeline import labelled_prototypes as labelled_prototypes
from .pipeline import prototype_text as prototype_text
from .pipeline import prototypes_table, split_target, table_pipeline
from .pipeline import quote_text as quote_text
from .pipeline_steps import FEATUREWISE as FEATUREWISE
from .pipeline_steps import NO_FEATURE_NAMES as NO_FEATURE_NAMES
from .pipeline_steps import TableSteps as TableSteps
from .pipeline_steps import apply_step as apply_step
from .pipeline_steps import flatten_steps as flatten_steps
from .pipeline_steps import ignore_warnings as ignore_warnings
from .pipeline_steps import no_way_back as no_way_back
from .pipeline_steps import undo_step as undo_step
from .table import Table as Table
from .table import build_frame as build_frame
from .table import native_column as native_column
from .values import Values as Values
from .values import as_times as as_times
from .values import from_clock as from_clock
from .values import is_number as is_number
from .values import to_days as to_days
from .values import zone_of as zone_of

__all__ = [
    "CategoryColumn",
    "NumberColumn",
    "ReadTable",
    "TableEncoder",
    "TableFileError",
    "TextColumn",
    "prototypes_table",
    "read_table",
    "split_target",
    "table_pipeline",
]
