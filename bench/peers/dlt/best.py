"""dlt's REST API source to DuckDB, set up for this service: nested values stay JSON in one table, and from the second run
on only what is newer than the newest `createdAt` is read.

    python best.py BASE_URL FOLDER PAGE

Takes for granted what the service does not document: that the newest task comes first (`row_order`), and that windows
hold PAGE tasks.
"""

import sys

import dlt
from dlt.sources.rest_api import rest_api_source

base, folder, page = sys.argv[1:4]
source = rest_api_source(
    {
        "client": {"base_url": base},
        "resources": [
            {
                "name": "tasks",
                "primary_key": "id",
                "write_disposition": "merge",
                "max_table_nesting": 0,
                "endpoint": {
                    "path": "tasks/list",
                    "method": "POST",
                    "json": {},
                    "data_selector": "body.items",
                    "incremental": {"cursor_path": "createdAt", "row_order": "desc"},
                    "paginator": {
                        "type": "offset",
                        "limit": int(page),
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
