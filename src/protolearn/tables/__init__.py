"""Tables in, the user's units and words out."""

from .category_column import UNKNOWN as UNKNOWN
from .checks import UNSEEN as UNSEEN
from .checks import tell_unseen as tell_unseen
from .columns import CategoryColumn, NumberColumn
from .columns import Column as Column
from .contributions import Contributions, contributions_table
from .contributions import as_model_sees as as_model_sees
from .contributions import linear_shares as linear_shares
from .counterfactuals import counterfactual_table
from .encoder import TableEncoder
from .naming import near as near
from .nearest import NO_NAMES as NO_NAMES
from .nearest import without_name_warnings as without_name_warnings
from .pipeline import split_target, table_pipeline
from .prototypes import prototypes_table
from .reading import ReadTable, TableFileError, read_table
from .reading.folder import Coded as Coded
from .reading.folder import ParquetFolder as ParquetFolder
from .reading.read import origin as origin
from .result import Change, TableCounterfactuals
from .steps import TableSteps as TableSteps
from .steps import flat as flat
from .steps import prototypes_of as prototypes_of
from .texts import UNUSED as UNUSED
from .texts import column_texts as column_texts
from .texts import plain_text as plain_text
from .texts import prototype_texts as prototype_texts
from .texts import row_texts as row_texts
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
