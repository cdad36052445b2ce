"""Tables in, the user's units and words out."""

from .columns import CategoryColumn, NumberColumn
from .counterfactuals import counterfactual_table
from .encoder import TableEncoder
from .pipeline import split_target, table_pipeline
from .prototypes import prototypes_table
from .result import Change, TableCounterfactuals

__all__ = [
    "CategoryColumn",
    "Change",
    "NumberColumn",
    "TableCounterfactuals",
    "TableEncoder",
    "counterfactual_table",
    "prototypes_table",
    "split_target",
    "table_pipeline",
]
