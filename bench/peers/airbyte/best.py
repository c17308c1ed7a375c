"""The same with the CDK's own command as the source, which is given the state of the last run: PyAirbyte 0.71 does not
hand it to a manifest that it runs itself.

    python best.py BASE_URL FOLDER PAGE
"""

import sys
from pathlib import Path

import airbyte
import yaml
from airbyte.caches import DuckDBCache

base, folder, page = sys.argv[1:4]
manifest = yaml.safe_load(Path(__file__).with_name("best.yaml").read_text())
source = airbyte.get_source(
    "source-declarative-manifest",
    config={"base_url": base, "page": int(page), "__injected_declarative_manifest": manifest},
    local_executable="source-declarative-manifest",
    streams="*",
)
source.read(cache=DuckDBCache(db_path=f"{folder}/lake.duckdb", cache_dir=folder))
