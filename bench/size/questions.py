"""Asks Spark in local mode the questions of bench:size: `questions.py FOLDER QUESTIONS`; prints one JSON object per question.

FOLDER is a snapshot, QUESTIONS a JSON object of name and SQL on the view `tasks`. Each is asked three times, the median is told.
What was skipped is read from the metrics of the plan that ran: files and partitions read, rows that the scan gave on.
"""

import json
import sys
import time

from pyspark.sql import SparkSession

folder, questions = sys.argv[1:3]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.memory", "3g")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    # Adaptive plans hide their scans behind stages.
    .config("spark.sql.adaptive.enabled", "false")
    .config("spark.sql.shuffle.partitions", "4")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
spark.read.parquet(folder).createOrReplaceTempView("tasks")
for name, sql in json.loads(questions).items():
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        asked = spark.sql(sql)
        rows = asked.collect()
        seconds.append(time.perf_counter() - started)
    scan = asked._jdf.queryExecution().executedPlan().collectLeaves().head()
    metrics = scan.metrics()
    of = {key: metrics.apply(key).value() for key in ("numFiles", "numPartitions", "numOutputRows") if metrics.contains(key)}
    print(json.dumps({"name": name, "seconds": sorted(seconds)[1], "rows": len(rows), **of}))
print(json.dumps({"version": spark.version}))
