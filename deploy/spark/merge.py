"""Keeps a lake table equal to a mirror: merges what `task-mirror export` publishes into an Iceberg or a Delta table.

    spark-submit merge.py --lake s3a://lake/tasks --table lake.accounts.tasks                       # Iceberg, in a catalog
    spark-submit merge.py --lake s3a://lake/tasks --table s3a://lake/delta/tasks --format delta     # or the name of a table

Run it after a publication, or by the clock. It goes back from latest.json along `buildsOn` to what the table holds, or to a full
snapshot, and merges one publication after the other, in the order of `change_seq`. After each the table is what the mirror
was then. The property `task-mirror.snapshot` names the last one merged.

A run may be killed at any moment and started again. A commit of the table is there or not; where it is and the property still
names the publication before, the same is merged once more, which changes nothing: no change_seq is higher than the table's.
Let one run at a time write to a table. Compact it as any other that is merged into (Iceberg: rewrite_data_files, Delta: OPTIMIZE).
"""

import argparse
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

TYPES = {"utf8": "STRING", "json": "STRING", "int64": "BIGINT", "timestamp_ms": "TIMESTAMP"}
# A feed touches few rows of many files: note what is deleted, instead of writing these files anew.
PROPERTIES = {
    "iceberg": {
        "write.merge.mode": "merge-on-read",
        "write.update.mode": "merge-on-read",
        "write.delete.mode": "merge-on-read",
    },
    "delta": {"delta.enableDeletionVectors": "true"},
}
SNAPSHOT, CUT, TOMBSTONES = "task-mirror.snapshot", "task-mirror.cut", "task-mirror.tombstones"


class Refused(Exception):
    """Nothing more was merged; the message says why and what to do."""


class Lake:
    """A folder that task-mirror publishes to, on any file system that Hadoop knows."""

    def __init__(self, spark, place):
        self.spark, self.place = spark, place.rstrip("/")

    def json(self, name):
        """None where there is no such file. Spark's own readers pass over names that begin with `_`."""
        jvm = self.spark._jvm
        path = jvm.org.apache.hadoop.fs.Path(f"{self.place}/{name}")
        files = path.getFileSystem(self.spark._jsc.hadoopConfiguration())
        if not files.exists(path):
            return None
        stream = files.open(path)
        try:
            return json.loads(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def manifest(self, snapshot, named_by):
        manifest = self.json(f"{snapshot}/_manifest.json") if snapshot else None
        if manifest is None:
            what = snapshot or "a publication"
            raise Refused(f"{named_by} builds on {what} that is not in {self.place}: publish a full snapshot")
        # A task that no longer fits a filter is not mentioned by the feeds: the table would keep it.
        types = {column["name"]: column["type"] for column in manifest["schema"]}
        is_known = {"id", "change_seq", "deleted_at"} <= types.keys() and set(types.values()) <= TYPES.keys()
        if manifest["format"] != "parquet" or not is_known or manifest["filters"]["statuses"] is not None:
            raise Refused(
                f"{snapshot} is not all tasks as Parquet: publish without --status, --columns, --format, --variant"
            )
        return manifest

    def rows(self, manifest):
        """Exactly the files of the manifest and the columns of the mirror, whatever else lies there."""
        files = [f"{self.place}/{manifest['snapshotId']}/{file['path']}" for file in manifest["files"]]
        rows = self.spark.read.parquet(*files).select([column["name"] for column in manifest["schema"]])
        if rows.count() != manifest["rows"]:
            raise Refused(f"{manifest['snapshotId']} does not have the {manifest['rows']} rows of its manifest")
        return rows


class Table:
    def __init__(self, spark, name, format):
        self.spark, self.format = spark, format
        self.path = name if format == "delta" and "/" in name else None
        self.name = f"delta.`{name}`" if self.path else name

    def create(self, columns, tombstones, partitioning):
        """Empty, where there is none. One that is there and empty, partitioned as its owner likes, is taken as well."""
        if self.path:
            # Not by CREATE TABLE: that takes a folder which a killed run has begun for a table.
            by = [name.strip() for name in partitioning.split(",") if name]
            rows = self.spark.createDataFrame([], ddl(columns))
            rows.write.format("delta").partitionBy(*by).mode("ignore").save(self.path)
        else:
            by = f"PARTITIONED BY ({partitioning})" if partitioning else ""
            self.spark.sql(f"CREATE TABLE IF NOT EXISTS {self.name} ({ddl(columns)}) USING {self.format} {by}")
        if TOMBSTONES not in self.properties() and self.spark.table(self.name).isEmpty():
            self.set({SNAPSHOT: "", CUT: "0", TOMBSTONES: tombstones, **PROPERTIES[self.format]})

    def set(self, properties):
        told = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
        self.spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({told})")

    def properties(self):
        return {row["key"]: row["value"] for row in self.spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}

    def add_columns(self, columns):
        """Those that a newer task-mirror has brought."""
        known = self.spark.table(self.name).columns
        new = [column for column in columns if column["name"] not in known]
        if new:
            self.spark.sql(f"ALTER TABLE {self.name} ADD COLUMNS ({ddl(new)})")

    def replace(self, rows):
        rows.writeTo(self.name).overwrite(lit(True))

    def merge(self, rows, deletes):
        rows.createOrReplaceTempView("feed")
        # A tombstone deletes a row or, where they are kept, is a change like any other.
        deletion = (
            "WHEN MATCHED AND f.change_seq > t.change_seq AND f.deleted_at IS NOT NULL THEN DELETE" if deletes else ""
        )
        insertion = "AND f.deleted_at IS NULL" if deletes else ""
        self.spark.sql(f"""
            MERGE INTO {self.name} AS t USING feed AS f ON t.id = f.id
            {deletion}
            WHEN MATCHED AND f.change_seq > t.change_seq THEN UPDATE SET *
            WHEN NOT MATCHED {insertion} THEN INSERT *""")

    def mark(self, manifest):
        self.set({SNAPSHOT: manifest["snapshotId"], CUT: manifest["cut"]})


def ddl(columns):
    return ", ".join(f"`{column['name']}` {TYPES[column['type']]}" for column in columns)


def is_whole(manifest):
    """It needs none before it: a full snapshot, or a feed of all changes since the first."""
    return manifest["kind"] == "full" or manifest["sinceSeq"] == 0


def not_merged(lake, manifest, merged, cut):
    """The manifests after the publication `merged` up to this one, oldest first. Refuses a gap, and a lake that is behind the table."""
    # Of the newest alone: a full snapshot that feeds have overtaken ends before them, and the feeds after it begin there.
    if manifest["cut"] < cut:
        raise Refused(
            f"the table has changes up to {cut}, {manifest['snapshotId']} only up to {manifest['cut']}: was the mirror replaced?"
        )
    found = []
    while manifest["snapshotId"] != merged:
        found.append(manifest)
        if is_whole(manifest) or manifest["buildsOn"] == merged:
            break
        manifest = lake.manifest(manifest["buildsOn"], manifest["snapshotId"])
    for manifest in reversed(found):
        if not is_whole(manifest) and manifest["sinceSeq"] > cut:
            raise Refused(
                f"{manifest['snapshotId']} begins after change {manifest['sinceSeq']}, what is before it ends at {cut}"
            )
        cut = manifest["cut"]
    return found[::-1]


def bring_up_to_date(lake, table, tombstones, partitioning):
    latest = lake.json("latest.json")
    if latest is None:
        raise Refused(f"{lake.place} has no latest.json: nothing is published there")
    newest = lake.manifest((latest["changes"] or latest["full"])["snapshotId"], "latest.json")
    table.create(newest["schema"], tombstones, partitioning)
    told = table.properties()
    if told.get(TOMBSTONES) != tombstones:
        raise Refused(
            f"{table.name} is not a table of this job with --tombstones {tombstones}: name another, or drop it"
        )
    for manifest in not_merged(lake, newest, told[SNAPSHOT], int(told[CUT])):
        rows = lake.rows(manifest)
        table.add_columns(manifest["schema"])
        deletes = tombstones == "delete"
        if is_whole(manifest):
            has_tombstones = manifest["kind"] == "changes" or manifest["filters"]["includeDeleted"]
            if not deletes and not has_tombstones:
                raise Refused(f"{manifest['snapshotId']} has no tombstones: publish it with --include-deleted")
            table.replace(rows.where("deleted_at IS NULL") if deletes else rows)
        else:
            table.merge(rows, deletes)
        table.mark(manifest)
        print(f"merged {manifest['snapshotId']}: {manifest['rows']} rows, changes up to {manifest['cut']}", flush=True)
    print(f"{table.name} is the mirror as of {newest['snapshotId']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Merges what task-mirror publishes into an Iceberg or Delta table.")
    parser.add_argument("--lake", required=True, help="where task-mirror publishes to, such as s3a://lake/tasks")
    parser.add_argument("--table", required=True, help="name in a catalog; for Delta also the path of a table")
    parser.add_argument("--format", choices=["iceberg", "delta"], default="iceberg")
    parser.add_argument(
        "--tombstones", choices=["delete", "flag"], default="delete", help="what becomes of deleted tasks"
    )
    parser.add_argument("--partitioned-by", default="", help="of a new table, such as 'months(created_at)'")
    flags = parser.parse_args()
    spark = SparkSession.builder.appName("task-mirror merge").getOrCreate()
    try:
        table = Table(spark, flags.table, flags.format)
        bring_up_to_date(Lake(spark, flags.lake), table, flags.tombstones, flags.partitioned_by)
    except Refused as refusal:
        sys.exit(f"refused: {refusal}")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
