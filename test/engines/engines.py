"""The engines, each opening what is published the way its users do. A way is a line of code that stands in the engine's own manual;
the first that finds everything counts, and what the ones before it got wrong is told beside it.

An engine has `file(path)`, `folder(path)` (Hive partitions found by itself) and `feeds(folders)` (the current state, from a full
snapshot and the feeds that follow it). Each gives ways: pairs of a line to show and a function that gives a `Found`.
"""

import glob
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq


@dataclass
class Found:
    rows: pa.Table
    """By system_status: tasks, sum of change_seq, tasks with a status code."""
    by_status: list | None = None
    """By the partition: tasks and sum of change_seq."""
    by_month: list | None = None
    """Result bodies that have a requestId, by the engine's own reading of JSON."""
    request_ids: int | None = None


MONTH = pa.schema([("created_month", pa.string())])
BY_STATUS = "SELECT system_status, count(*), sum(change_seq), count(result_status_code) FROM {} GROUP BY system_status"
BY_MONTH = "SELECT created_month, count(*), sum(change_seq) FROM {} GROUP BY created_month"
NEWEST = """SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY change_seq DESC) AS newest FROM {}) AS numbered
WHERE newest = 1 AND deleted_at IS NULL"""


def newest(table: pa.Table) -> pa.Table:
    """The current state by pyarrow: of each id the row with the highest change_seq, unless it is a tombstone."""
    last = table.group_by("id").aggregate([("change_seq", "max")]).rename_columns(["id", "change_seq"])
    kept = table.join(last, ["id", "change_seq"], join_type="inner")
    return kept.filter(pc.is_null(kept["deleted_at"]))


def arrow_answers(rows: pa.Table) -> Found:
    sums = [("change_seq", "count"), ("change_seq", "sum")]
    by_status = rows.group_by("system_status").aggregate([*sums, ("result_status_code", "count")])
    found = Found(rows, [tuple(row.values()) for row in by_status.to_pylist()])
    if "created_month" in rows.column_names:
        found.by_month = [tuple(row.values()) for row in rows.group_by("created_month").aggregate(sums).to_pylist()]
    return found


class PyArrow:
    version = version("pyarrow")

    def file(self, path):
        yield "pyarrow.parquet.read_table(file)", lambda: arrow_answers(pq.read_table(path))

    def folder(self, path):
        yield "pyarrow.parquet.read_table(folder)", lambda: arrow_answers(pq.read_table(path))
        line = 'pyarrow.parquet.read_table(folder, partitioning=pyarrow.dataset.partitioning(MONTH, flavor="hive"))'
        yield line, lambda: arrow_answers(pq.read_table(path, partitioning=ds.partitioning(MONTH, flavor="hive")))

    def feeds(self, folders):
        def read():
            return arrow_answers(newest(pa.concat_tables(pq.read_table(folder, partitioning=None) for folder in folders)))

        yield "pyarrow.concat_tables(read_table(folder, partitioning=None) for each)", read


class Pandas:
    version = version("pandas")

    def answers(self, frame):
        sums = {"id": "count", "change_seq": "sum", "result_status_code": "count"}
        by_status = frame.groupby("system_status").agg(sums)
        found = Found(pa.Table.from_pandas(frame, preserve_index=False), list(by_status.itertuples()))
        if "created_month" in frame:
            del sums["result_status_code"]
            by_month = frame.groupby("created_month", dropna=False, observed=True).agg(sums).reset_index()
            months = by_month["created_month"].astype(object).where(by_month["created_month"].notna(), None)
            found.by_month = list(zip(months, by_month["id"], by_month["change_seq"]))
        found.request_ids = sum(has_request_id(body) for body in frame["result_body"])
        return found

    def file(self, path):
        import pandas

        yield "pandas.read_parquet(file)", lambda: self.answers(pandas.read_parquet(path))
        line = 'pandas.read_parquet(file, dtype_backend="pyarrow")'
        yield line, lambda: self.answers(pandas.read_parquet(path, dtype_backend="pyarrow"))

    def folder(self, path):
        import pandas

        months = ds.partitioning(MONTH, flavor="hive")
        yield "pandas.read_parquet(folder)", lambda: self.answers(pandas.read_parquet(path))
        line = 'pandas.read_parquet(folder, dtype_backend="pyarrow")'
        yield line, lambda: self.answers(pandas.read_parquet(path, dtype_backend="pyarrow"))
        line = 'pandas.read_parquet(folder, dtype_backend="pyarrow", partitioning=pyarrow.dataset.partitioning(MONTH, flavor="hive"))'
        yield line, lambda: self.answers(pandas.read_parquet(path, dtype_backend="pyarrow", partitioning=months))

    def feeds(self, folders):
        import pandas

        def read():
            tables = [pandas.read_parquet(folder, dtype_backend="pyarrow", partitioning=None) for folder in folders]
            frame = pandas.concat(tables).sort_values("change_seq").drop_duplicates("id", keep="last")
            return self.answers(frame[frame["deleted_at"].isna()])

        yield 'concat of read_parquet(folder, dtype_backend="pyarrow", partitioning=None), drop_duplicates("id", keep="last")', read


def has_request_id(body) -> bool:
    try:
        value = json.loads(body)
    except (TypeError, ValueError):
        return False
    return isinstance(value, dict) and value.get("requestId") is not None


class Polars:
    version = version("polars")

    def answers(self, frame):
        import polars

        def ask(sql):
            return polars.SQLContext(tasks=frame).execute(sql.format("tasks")).collect().rows()

        rows = frame.collect()
        found = Found(rows.to_arrow(), ask(BY_STATUS))
        if "created_month" in rows.columns:
            found.by_month = ask(BY_MONTH)
        return found

    def file(self, path):
        import polars

        yield "polars.scan_parquet(file)", lambda: self.answers(polars.scan_parquet(path))

    def folder(self, path):
        import polars

        yield "polars.scan_parquet(folder)", lambda: self.answers(polars.scan_parquet(path))
        every = f"{path}/**/*.parquet"
        yield (
            'polars.scan_parquet("folder/**/*.parquet", hive_partitioning=True)',
            lambda: self.answers(polars.scan_parquet(every, hive_partitioning=True)),
        )

    def feeds(self, folders):
        import polars

        def read():
            files = [file for folder in folders for file in glob.glob(f"{folder}/**/*.parquet", recursive=True)]
            frame = polars.scan_parquet(files, hive_partitioning=False)
            return self.answers(polars.SQLContext(tasks=frame).execute(NEWEST.format("tasks")))

        yield "polars.scan_parquet(files), the newest of each id by SQL", read


class DuckDB:
    version = version("duckdb")

    def answers(self, source):
        import duckdb

        with duckdb.connect() as base:
            base.sql("SET memory_limit = '4GB'")
            base.sql(f"CREATE VIEW tasks AS {source}")

            def ask(sql):
                return base.sql(sql.format("tasks")).fetchall()

            rows = base.sql("FROM tasks").to_arrow_table()
            found = Found(rows, ask(BY_STATUS))
            if "created_month" in rows.column_names:
                found.by_month = ask(BY_MONTH)
            # A list in JSON that is not valid (a lone surrogate) would end the query.
            valid = "CASE WHEN json_valid(result_body) THEN result_body END"
            found.request_ids = ask(f"SELECT count({valid} ->> '$.requestId') FROM {{}}")[0][0]
            return found

    def file(self, path):
        yield "FROM 'file'", lambda: self.answers(f"FROM '{path}'")

    def folder(self, path):
        source = f"FROM read_parquet('{path}/**/*.parquet', hive_partitioning = true)"
        yield "FROM 'folder/**/*.parquet'", lambda: self.answers(f"FROM '{path}/**/*.parquet'")
        yield "FROM read_parquet('folder/**/*.parquet', hive_partitioning = true)", lambda: self.answers(source)

    def feeds(self, folders):
        every = [f"{folder}/**/*.parquet" for folder in folders]
        source = NEWEST.format(f"read_parquet({every}, hive_partitioning = false)")
        yield "read_parquet([...], hive_partitioning = false), the newest of each id", lambda: self.answers(source)


class DataFusion:
    version = version("datafusion")

    def answers(self, context, select="SELECT * FROM tasks"):
        context.register_view("chosen", context.sql(select))

        def ask(sql):
            return [tuple(row.values()) for row in context.sql(sql.format("chosen")).to_pylist()]

        rows = context.table("chosen").to_arrow_table()
        found = Found(rows, ask(BY_STATUS))
        if "created_month" in rows.column_names:
            found.by_month = ask(BY_MONTH)
        return found

    def external(self, location):
        import datafusion

        context = datafusion.SessionContext()
        context.sql(f"CREATE EXTERNAL TABLE tasks STORED AS PARQUET LOCATION '{location}'")
        return self.answers(context)

    def registered(self, **more):
        """A table for each name and folder, with the column of its partitions."""
        import datafusion

        context = datafusion.SessionContext()
        for name, folder in more.items():
            is_partitioned = len(glob.glob(f"{folder}/created_month=*")) > 0
            context.register_parquet(name, folder, table_partition_cols=list(zip(MONTH.names, MONTH.types)) if is_partitioned else [])
        return context

    def file(self, path):
        yield "CREATE EXTERNAL TABLE ... STORED AS PARQUET LOCATION 'file'", lambda: self.external(path)

    def folder(self, path):
        yield "CREATE EXTERNAL TABLE ... STORED AS PARQUET LOCATION 'folder/'", lambda: self.external(f"{path}/")
        line = 'context.register_parquet("tasks", folder, table_partition_cols=[("created_month", pyarrow.string())])'
        yield line, lambda: self.answers(self.registered(tasks=path))
        named = "nullif(created_month, '__HIVE_DEFAULT_PARTITION__') AS created_month"
        select = f"SELECT * EXCEPT (created_month), {named} FROM tasks"
        yield (
            f"context.register_parquet(...), SELECT * EXCEPT (created_month), {named}",
            lambda: self.answers(self.registered(tasks=path), select),
        )

    def feeds(self, folders):
        def read():
            context = self.registered(**{f"published_{i}": folder for i, folder in enumerate(folders)})
            names = ", ".join(context.table("published_1").schema().names)
            union = " UNION ALL ".join(f"SELECT {names} FROM published_{i}" for i in range(len(folders)))
            return self.answers(context, NEWEST.format(f"({union})"))

        yield "context.register_parquet for each, UNION ALL, the newest of each id", read


class ChDB:
    version = version("chdb")

    def answers(self, source):
        import chdb

        def ask(sql):
            return chdb.query(f"{sql.format(f'({source})')} FORMAT JSONCompact SETTINGS output_format_json_quote_64bit_integers = 0")

        def rows_of(sql):
            return [tuple(row) for row in json.loads(ask(sql).bytes())["data"]]

        # The query's answer as Arrow, as `chdb.query(sql, "ArrowTable")` gives it.
        rows = chdb.query(source, "ArrowTable")
        found = Found(rows, rows_of(BY_STATUS))
        if "created_month" in rows.column_names:
            found.by_month = rows_of(BY_MONTH)
        found.request_ids = rows_of("SELECT countIf(JSONHas(result_body, 'requestId')) FROM {}")[0][0]
        return found

    def file(self, path):
        yield "SELECT * FROM file('file', Parquet)", lambda: self.answers(f"SELECT * FROM file('{path}', Parquet)")

    def folder(self, path):
        source = f"SELECT *{{}} FROM file('{path}/**/*.parquet', Parquet)"
        yield "SELECT * FROM file('folder/**/*.parquet', Parquet)", lambda: self.answers(source.format(""))
        named = " REPLACE (nullIf(created_month, '__HIVE_DEFAULT_PARTITION__') AS created_month)"
        yield f"SELECT *{named} FROM file('folder/**/*.parquet', Parquet)", lambda: self.answers(source.format(named))

    def feeds(self, folders):
        names = ",".join(os.path.basename(folder) for folder in folders)
        every = f"{os.path.dirname(folders[0])}/{{{names}}}/**/*.parquet"
        columns = ", ".join(pq.read_schema(glob.glob(f"{folders[0]}/**/*.parquet", recursive=True)[0]).names)
        source = f"SELECT {columns} FROM file('{every}', Parquet) ORDER BY change_seq DESC LIMIT 1 BY id"
        yield (
            "SELECT * FROM file('{folders}/**/*.parquet', Parquet) ORDER BY change_seq DESC LIMIT 1 BY id",
            lambda: self.answers(f"SELECT * FROM ({source}) WHERE deleted_at IS NULL"),
        )


class Spark:
    version = version("pyspark")

    def __init__(self):
        from pyspark.sql import SparkSession

        memory = {"spark.driver.memory": "4g", "spark.driver.maxResultSize": "3g", "spark.ui.enabled": "false"}
        builder = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC")
        self.spark = builder.config(map=memory).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def answers(self, frame):
        frame.createOrReplaceTempView("tasks")

        def ask(sql):
            return [tuple(row) for row in self.spark.sql(sql.format("tasks")).collect()]

        found = Found(frame.toArrow(), ask(BY_STATUS))
        if "created_month" in frame.columns:
            found.by_month = ask(BY_MONTH)
        found.request_ids = ask("SELECT count(get_json_object(result_body, '$.requestId')) FROM {}")[0][0]
        return found

    def file(self, path):
        yield "spark.read.parquet(file)", lambda: self.answers(self.spark.read.parquet(path))

    def folder(self, path):
        yield "spark.read.parquet(folder)", lambda: self.answers(self.spark.read.parquet(path))

    def feeds(self, folders):
        def read():
            tables = [self.spark.read.parquet(folder).drop("created_month") for folder in folders]
            versions = tables[0]
            for table in tables[1:]:
                versions = versions.unionByName(table)
            versions.createOrReplaceTempView("versions")
            return self.answers(self.spark.sql(NEWEST.format("versions")).drop("newest"))

        yield "unionByName(spark.read.parquet(folder) for each), the newest of each id", read


class DeltaLake:
    version = version("deltalake")

    def answers(self, table):
        return arrow_answers(pa.table(table.to_pyarrow_table()))

    def convert(self, path):
        """A table on a copy of the folder: its log comes to lie beside the files."""
        from deltalake import DeltaTable, Schema, convert_to_deltalake

        place = copy_of(path)
        partitions = Schema.from_arrow(MONTH)
        is_partitioned = len(glob.glob(f"{place}/created_month=*")) > 0
        more = {"partition_by": partitions, "partition_strategy": "hive"} if is_partitioned else {}
        convert_to_deltalake(place, **more)
        return DeltaTable(place)

    def file(self, path):
        yield "convert_to_deltalake(folder of the file)", lambda: self.answers(self.convert(path))

    def folder(self, path):
        yield (
            'convert_to_deltalake(folder, partition_by=created_month, partition_strategy="hive")',
            lambda: self.answers(self.convert(path)),
        )

    def feeds(self, folders):
        from deltalake import DeltaTable, write_deltalake

        def read():
            place = tempfile.mkdtemp()
            write_deltalake(place, live(pq.read_table(folders[0], partitioning=None)))
            table = DeltaTable(place)
            for folder in folders[1:]:
                merge = table.merge(pq.read_table(folder), "t.id = f.id", source_alias="f", target_alias="t")
                merge.when_matched_delete("f.deleted_at IS NOT NULL").when_matched_update_all(
                    "f.change_seq > t.change_seq"
                ).when_not_matched_insert_all("f.deleted_at IS NULL").execute()
            return self.answers(table)

        yield "write_deltalake, then DeltaTable.merge for each feed", read


class PyIceberg:
    version = version("pyiceberg")

    def table(self, schema, spec=None):
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC

        place = tempfile.mkdtemp()
        catalog = SqlCatalog("lake", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}")
        catalog.create_namespace("lake")
        return catalog.create_table("lake.tasks", schema, partition_spec=spec or UNPARTITIONED_PARTITION_SPEC)

    def added(self, files, is_partitioned):
        table = self.table(pq.read_schema(files[0]).remove_metadata())
        if is_partitioned:
            with table.update_spec() as update:
                update.add_field("created_at", "month", "created_month")
        table.add_files(files)
        return arrow_answers(table.scan().to_arrow())

    def file(self, path):
        yield "table.add_files([file])", lambda: self.added([path], False)

    def folder(self, path):
        files = sorted(glob.glob(f"{path}/**/*.parquet", recursive=True))
        yield "table.add_files(files), partitioned by month(created_at)", lambda: self.added(files, True)
        yield "table.add_files(files)", lambda: self.added(files, False)

    def feeds(self, folders):
        from pyiceberg.expressions import In

        def read():
            first = live(pq.read_table(folders[0], partitioning=None))
            table = self.table(first.schema.remove_metadata())
            table.append(first)
            for folder in folders[1:]:
                feed = pq.read_table(folder)
                table.delete(In("id", feed["id"].to_pylist()))
                table.append(live(feed))
            return arrow_answers(table.scan().to_arrow())

        yield "table.append, then table.delete of its ids and table.append for each feed", read


def live(table: pa.Table) -> pa.Table:
    return table.filter(pc.is_null(table["deleted_at"]))


def copy_of(path: str) -> str:
    """A file gets a folder of its own; a folder is copied without what begins with `_`."""
    place = tempfile.mkdtemp()
    if os.path.isdir(path):
        return shutil.copytree(path, f"{place}/tasks", ignore=shutil.ignore_patterns("_*"))
    shutil.copy(path, f"{place}/part-00000.parquet")
    return place


ENGINES: dict[str, Any] = {
    "pyarrow": PyArrow,
    "pandas": Pandas,
    "polars": Polars,
    "DuckDB": DuckDB,
    "DataFusion": DataFusion,
    "chDB": ChDB,
    "deltalake": DeltaLake,
    "pyiceberg": PyIceberg,
    "Spark": Spark,
}
