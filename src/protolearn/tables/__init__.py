"""Tables in, the user's units and words out."""

from .columns import CategoryColumn, NumberColumn
from .contributions import Contributions, contributions_table
from .counterfactuals import counterfactual_table
from .encoder import TableEncoder
from .pipeline import split_target, table_pipeline
from .prototypes import prototypes_table
from .reading import ReadTable, TableFileError, read_table
from .result import Change, TableCounterfactuals

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
