from ...agents.conftest import bench as bench
from ...agents.conftest import settings as settings
