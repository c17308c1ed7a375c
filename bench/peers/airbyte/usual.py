"""PyAirbyte runs a declarative source on the Airbyte CDK and keeps its table in DuckDB, merged on `id`.

    python usual.py BASE_URL FOLDER
"""

import sys
from pathlib import Path

import airbyte
from airbyte.caches import DuckDBCache

base, folder = sys.argv[1:3]
source = airbyte.get_source(
    "source-tasks",
    config={"base_url": base},
    source_manifest=Path(__file__).with_name("usual.yaml"),
    streams="*",
)
source.read(cache=DuckDBCache(db_path=f"{folder}/lake.duckdb", cache_dir=folder))
