"""dlt's REST API source to DuckDB as its tutorial has it: nested values in tables of their own, merged on `id`.

    python usual.py BASE_URL FOLDER

Parquet between extract and load, because dlt's pages on DuckDB advise it (the default, INSERT statements, takes gigabytes).
"""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

base, folder = sys.argv[1:3]
source = rest_api_source(
    {
        "client": {"base_url": base},
        "resources": [
            {
                "name": "tasks",
                "primary_key": "id",
                "write_disposition": "merge",
                "endpoint": {
                    "path": "tasks/list",
                    "method": "POST",
                    "json": {},
                    "data_selector": "body.items",
                    "paginator": {
                        "type": "offset",
                        "limit": 1000,
                        "offset_body_path": "skip",
                        "limit_body_path": "take",
                        "total_path": None,
                    },
                },
            }
        ],
    }
)
pipeline = dlt.pipeline(
    "tasks", destination=dlt.destinations.duckdb(f"{folder}/lake.duckdb"), dataset_name="main", pipelines_dir=folder
)
pipeline.run(source, loader_file_format="parquet")
