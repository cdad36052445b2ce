"""Tables in, the user's units and words out."""

from .columns import UNKNOWN_CATEGORY as UNKNOWN_CATEGORY
from .columns import CategoryColumn, NumberColumn
from .columns import Column as Column
from .contributions import Contributions, contributions_table
from .contributions import linear_shares as linear_shares
from .contributions import model_input as model_input
from .encoder import TableEncoder
from .pipeline import TableSteps as TableSteps
from .pipeline import distance_unit as distance_unit
from .pipeline import flatten_steps as flatten_steps
from .pipeline import labelled_prototypes as labelled_prototypes
from .pipeline import prototypes_table, split_target, table_pipeline
from .reading import ReadTable, TableFileError, read_table
from .reading.parquet_folder import CodedTexts as CodedTexts
from .reading.parquet_folder import ParquetFolder as ParquetFolder
from .reading.read import describe_origin as describe_origin
from .table import suggest_name as suggest_name
from .table_checks import NO_FEATURE_NAMES as NO_FEATURE_NAMES
from .table_checks import UNSEEN_CATEGORIES as UNSEEN_CATEGORIES
from .table_checks import ignore_warnings as ignore_warnings
from .table_checks import warn_of_unseen_categories as warn_of_unseen_categories
from .table_counterfactuals import Change, TableCounterfactuals, counterfactual_table
from .value_texts import UNUSED_COLUMN as UNUSED_COLUMN
from .value_texts import column_texts as column_texts
from .value_texts import prototype_text as prototype_text
from .value_texts import prototype_texts as prototype_texts
from .value_texts import row_texts as row_texts
from .value_texts import write_outward as write_outward
from .values import is_number as is_number

__all__ = [
    "CategoryColumn",
    "Change",
    "Contributions",
    "NumberColumn",
    "ReadTable",
    "TableCounterfactuals",
    "TableEncoder",
    "TableFileError",
    "contributions_table",
    "counterfactual_table",
    "prototypes_table",
    "read_table",
    "split_target",
    "table_pipeline",
]
