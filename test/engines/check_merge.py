"""`check_merge.py FOLDER [PART...]`: deploy/spark/merge.py, run by spark-submit as a user runs it, killed and run again.

Iceberg and Delta, in a folder and on S3 (moto's server), tombstones as deletes and as flags: after every publication the table must
hold exactly what the mirror held then. For every publication a first run is killed at another point of its work (SIGKILL, the
whole process group) and a second one goes on. Then what must be refused, by name.
"""

import contextlib
import glob
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import types

os.environ["TZ"] = "Asia/Kathmandu"
time.tzset()

import boto3  # noqa: E402
from botocore.config import Config  # noqa: E402
from pyspark.errors import AnalysisException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from digest import differences  # noqa: E402

WORK, CACHE = os.path.abspath(sys.argv[1]), os.path.abspath(os.environ["ENGINES_CACHE"])
HERE = os.path.dirname(os.path.abspath(__file__))
MERGE = os.path.normpath(f"{HERE}/../../deploy/spark/merge.py")
spec = importlib.util.spec_from_file_location("job", MERGE)
job = importlib.util.module_from_spec(spec)
spec.loader.exec_module(job)
KINDS = ["full", "feed", "feed", "feed", "full", "feed"]
TASKS = 3000
PACKAGES = [
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "io.delta:delta-spark_4.1_2.13:4.4.0",
    "org.apache.hadoop:hadoop-aws:3.4.2",
    "org.xerial:sqlite-jdbc:3.54.1.0",
]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


ENDPOINT = f"http://127.0.0.1:{free_port()}"
SETTINGS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    # Short runs: what the second compiler would win is not won back.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Duser.timezone=Asia/Kathmandu",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.hadoop.fs.s3a.endpoint": ENDPOINT,
    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.access.key": "made-up",
    "spark.hadoop.fs.s3a.secret.key": "made-up",
}
for catalog, warehouse in (("local", f"{WORK}/iceberg"), ("remote", "s3a://lake/iceberg")):
    of = f"spark.sql.catalog.{catalog}"
    SETTINGS |= {of: "org.apache.iceberg.spark.SparkCatalog", f"{of}.type": "jdbc", f"{of}.warehouse": warehouse}
    SETTINGS |= {f"{of}.uri": f"jdbc:sqlite:{WORK}/{catalog}.db", f"{of}.cache-enabled": "false"}
    # With views, which Spark asks for where there is no table.
    SETTINGS[f"{of}.jdbc.schema-version"] = "V1"


class Target:
    """A lake, and a table that merge.py keeps of it."""

    def __init__(self, format: str, is_remote: bool, tombstones: str, mask: str):
        self.name = f"{format}, {'s3a' if is_remote else 'folder'}, tombstones {tombstones}"
        self.format, self.is_remote, self.tombstones, self.mask = format, is_remote, tombstones, mask
        self.root = "s3a://lake" if is_remote else WORK
        self.lake, self.folder = f"lakes/{format}", f"{format}/lake/tasks" if format == "iceberg" else "delta"
        self.table = f"{'remote' if is_remote else 'local'}.lake.tasks" if format == "iceberg" else f"{self.root}/delta"
        self.partitioning = "months(created_at)" if format == "iceberg" and is_remote else ""
        self.flags = ["--lake", f"{self.root}/{self.lake}", "--table", self.table, "--format", format, "--tombstones", tombstones]
        self.flags += ["--partitioned-by", self.partitioning] if self.partitioning else []

    def commits(self) -> list[str]:
        """Files by which the table has changed, its properties included."""
        return [name for name in self.files() if re.search(r"metadata/.*\.metadata\.json$|_delta_log/\d+\.json$", name)]

    def files(self) -> list[str]:
        if not self.is_remote:
            return [file for file in glob.glob(f"{WORK}/{self.folder}/**", recursive=True) if os.path.isfile(file)]
        pages = storage.get_paginator("list_objects_v2").paginate(Bucket="lake", Prefix=self.folder)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def put(self, source: str, name: str) -> None:
        if self.is_remote:
            storage.upload_file(source, "lake", f"{self.lake}/{name}")
        else:
            os.makedirs(os.path.dirname(f"{WORK}/{self.lake}/{name}"), exist_ok=True)
            shutil.copy(source, f"{WORK}/{self.lake}/{name}")

    def publish(self, number: int) -> None:
        """As task-mirror does it: the files, then latest.json."""
        snapshot = published[number]["published"][self.mask]
        place = f"{WORK}/made/{self.mask}"
        for file in glob.glob(f"{place}/{snapshot}/**", recursive=True):
            if os.path.isfile(file):
                self.put(file, os.path.relpath(file, place))
        self.put(f"{WORK}/made/{self.mask}-latest-{number}.json", "latest.json")

    def faults(self, number: int) -> list[str]:
        """What the table holds against what the mirror held at a publication."""
        try:
            table = spark.read.format("delta").load(self.table) if self.format == "delta" else spark.table(self.table)
        except AnalysisException:
            return ["there is no table"]
        truth = published[number][self.mask]["live" if self.tombstones == "delete" else "all"]
        return differences(table.toArrow(), truth, columns)

    def merged(self) -> str:
        name = f"delta.`{self.table}`" if self.format == "delta" else self.table
        try:
            told = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
        except AnalysisException:
            return ""
        return told.get("task-mirror.snapshot", "")


def submit(*flags: str) -> subprocess.Popen:
    settings = [part for key, value in SETTINGS.items() for part in ("--conf", f"{key}={value}")]
    command = [f"{CACHE}/venv/bin/spark-submit", "--jars", ",".join(glob.glob(f"{CACHE}/ivy/jars/*.jar")), *settings, MERGE, *flags]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    with open(f"{WORK}/log", "w") as log:
        return subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)


def merge(target: Target, by_itself: bool = False) -> tuple[int, str]:
    """A whole run: its exit code, and what it said. It keeps nothing of Spark, so most are spared the start of one."""
    if by_itself:
        code = submit(*target.flags).wait(timeout=900)
        with open(f"{WORK}/log") as log:
            return code, log.read()
    lake, table = job.Lake(spark, f"{target.root}/{target.lake}"), job.Table(spark, target.table, target.format)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as told:
            job.bring_up_to_date(lake, table, target.tombstones, target.partitioning)
        return 0, told.getvalue()
    except job.Refused as refusal:
        return 1, f"refused: {refusal}"


def merge_and_kill(target: Target, is_time) -> bool:
    """Kills a run as soon as `is_time`; false where it was quicker."""
    running = submit(*target.flags)
    try:
        while running.poll() is None:
            if is_time():
                return True
            time.sleep(0.02)
        return False
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def check(what: str, faults: list[str]) -> None:
    print(f"{'ok' if not faults else 'NOT OK'}: {what}{': ' if faults else ''}{'; '.join(faults)}", flush=True)
    failed.extend(faults)


def refused(what: str, target: Target, words: str, by_itself: bool = False) -> None:
    before = (target.commits(), target.merged())
    code, told = merge(target, by_itself)
    reason = "".join(re.findall(r"refused: (.*)", told)[-1:])
    faults = [] if code != 0 and re.search(words, reason) else [f"exit {code}: {reason or told[-500:]}"]
    check(
        f"{what} is refused: {reason}",
        faults + (["the table was changed"] if before != (target.commits(), target.merged()) else []),
    )


def keep(target: Target) -> None:
    """Publications one by one, on S3 several at once; each time with a kill at another point."""
    steps = [[0], [1, 2, 3], [4, 5]] if target.is_remote else [[number] for number in range(len(published))]
    kinds = ["after its first file", "after its commit", "after some files", "after its commit", "after its first file", "after its commit"]
    for step, kind in zip(steps, kinds):
        for number in step:
            target.publish(number)
        files, commits = len(target.files()), len(target.commits())
        moments = {
            "after its first file": lambda: len(target.files()) > files,
            "after some files": lambda: len(target.files()) > files + 3,
            # The first two of a new table make it, empty. The next is of rows; the property that tells of them comes after it.
            "after its commit": lambda: len(target.commits()) > max(commits, 2),
        }
        was_killed = merge_and_kill(target, moments[kind])
        snapshot = published[step[-1]]["published"][target.mask]
        # Killed between a commit and the property: the table holds a publication that it does not name yet.
        ahead = [
            number
            for number in step
            if was_killed and target.merged() != published[number]["published"][target.mask] and not target.faults(number)
        ]
        tally["killed"] += was_killed
        tally["killed between commit and property"] += len(ahead)
        code, told = merge(target)
        faults = [f"exit {code}: {told[-800:]}"] if code != 0 else target.faults(step[-1])
        if target.merged() != snapshot:
            faults.append(f"the property says {target.merged()}")
        how = f"killed {kind}{', before its property' if ahead else ''}" if was_killed else "not killed, it was quicker"
        names = " and ".join(f"{number} ({published[number]['kind']})" for number in step)
        check(f"{target.name}: publication {names}, {how}, and run again", faults)
    before = target.commits()
    code, told = merge(target)
    check(f"{target.name}: a run with nothing new writes nothing", [] if code == 0 and target.commits() == before else [told[-500:]])


def refusals() -> None:
    """Gaps, filters, tables of others and lakes that went back; each by name, and nothing is changed."""
    target = Target("iceberg", False, "delete", "masked")
    target.name, target.lake, target.folder, target.table = "refusals", "lakes/gap", "iceberg/lake/gap", "local.lake.gap"
    target.flags = ["--lake", f"{WORK}/{target.lake}", "--table", target.table]
    first, second, third = (published[number]["published"]["masked"] for number in (1, 2, 3))
    target.publish(0)
    code, told = merge(target, by_itself=True)
    check("a table with no flags but the two that are needed", [told[-500:]] if code != 0 else target.faults(0))
    target.publish(2)
    refused("a gap in the feeds", target, f"{second} builds on {first} that is not in .*publish a full snapshot", by_itself=True)
    check("after it the table is as it was", target.faults(0))
    # What is missing comes: both are merged by one run, each in a commit of its own.
    target.publish(1)
    target.publish(2)
    code, told = merge(target)
    check("two feeds in one run", [told[-500:]] if code != 0 else target.faults(2))
    versions = [row[0] for row in spark.sql("SELECT snapshot_id FROM local.lake.gap.snapshots ORDER BY committed_at").collect()]
    between = spark.sql(f"SELECT * FROM local.lake.gap VERSION AS OF {versions[1]}").toArrow()
    check("between the two the table was the mirror of then", differences(between, published[1]["masked"]["live"], columns))
    target.publish(1)
    refused("a lake that is behind the table", target, "the table has changes up to")
    # Written while the feed that the table holds was published: cuts 5 and 6, and the next feed goes on from 5.
    overtaken = {"snapshotId": "full", "kind": "full", "cut": 5, "sinceSeq": None, "buildsOn": None}
    after = {"snapshotId": "after", "kind": "changes", "cut": 7, "sinceSeq": 5, "buildsOn": "full"}
    lake = types.SimpleNamespace(place="lake", manifest=lambda snapshot, named_by: overtaken)
    found = [manifest["snapshotId"] for manifest in job.not_merged(lake, after, "feed", 6)]
    check("a full snapshot that a feed overtook is merged with the feed after it", [] if found == ["full", "after"] else found)
    target.publish(3)
    with open(f"{WORK}/{target.lake}/{third}/_manifest.json") as file:
        manifest = json.load(file)
    with open(f"{WORK}/filtered.json", "w") as file:
        json.dump({**manifest, "filters": {**manifest["filters"], "statuses": ["DONE"]}}, file)
    target.put(f"{WORK}/filtered.json", f"{third}/_manifest.json")
    refused("a feed with a filter", target, "is not all tasks")
    target.publish(3)
    spark.sql("ALTER TABLE local.lake.gap DROP COLUMN host")
    code, told = merge(target)
    has_host = "host" in spark.table("local.lake.gap").columns
    check("a column that the table lacks is added", [] if code == 0 and has_host else [told[-500:]])
    spark.sql("CREATE TABLE local.lake.foreign USING iceberg AS SELECT 'of others' AS id")
    target.table, target.folder = "local.lake.foreign", "iceberg/lake/foreign"
    target.flags[-1] = target.table
    refused("a table of somebody else", target, "is not a table of this job")


command = ["node", f"{HERE}/make-lake.ts", f"{WORK}/made", str(TASKS), ",".join(KINDS)]
print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout, end="", flush=True)
with open(f"{WORK}/made/expected.json") as file:
    expected = json.load(file)
published, columns = expected["publications"], expected["columns"]
failed: list[str] = []
tally = {"killed": 0, "killed between commit and property": 0}

server = subprocess.Popen(
    [f"{CACHE}/venv/bin/moto_server", "-H", "127.0.0.1", "-p", ENDPOINT.rsplit(":", 1)[1]],
    stderr=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
)
try:
    keys = {"aws_access_key_id": "made-up", "aws_secret_access_key": "made-up", "region_name": "us-east-1"}
    storage = boto3.client("s3", endpoint_url=ENDPOINT, config=Config(retries={"total_max_attempts": 10}), **keys)
    storage.create_bucket(Bucket="lake")
    packages = {"spark.jars.packages": ",".join(PACKAGES), "spark.jars.ivy": f"{CACHE}/ivy"}
    print("Spark fetches its packages, if they are not in the cache", flush=True)
    try:
        spark = SparkSession.builder.config(map={**SETTINGS, **packages}).getOrCreate()
    except Exception as error:
        if glob.glob(f"{CACHE}/ivy/jars/*iceberg*"):
            raise
        print(f"skipped: Spark's packages could not be had from Maven's repository ({type(error).__name__})")
        sys.exit(0)
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS local.lake")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS remote.lake")
    targets = [
        Target("iceberg", False, "delete", "masked"),
        Target("delta", False, "flag", "plain"),
        Target("iceberg", True, "flag", "plain"),
        Target("delta", True, "delete", "masked"),
    ]
    parts = {target.name: lambda target=target: keep(target) for target in targets} | {"refusals": refusals}
    for name in sys.argv[2:] or parts:
        parts[name]()
    print(f"{tally}; {len(failed)} failed")
finally:
    server.kill()
    server.wait()
sys.exit(1 if failed else 0)
