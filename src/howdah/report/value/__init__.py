"""The value of runs: price, power, racks and carbon of the systems that they ran on, from a price list.

Every figure has its formula and its inputs. Prices and power are those of the list, and exact. The interval of a figure
is that of the runs' times.
"""

from howdah.report.value.economy import figures_of
from howdah.report.value.equivalence import Equivalence, equal_work
from howdah.report.value.figure import FigureOfMerit
from howdah.report.value.system import System, system_of

__all__ = ["Equivalence", "FigureOfMerit", "System", "equal_work", "figures_of", "system_of"]
