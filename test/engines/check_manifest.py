"""deploy/spark/merge.yaml against the schema of the Spark operator, as its authors publish it for Python (kubeflow-spark-api): every field
is one that it knows, of the type it says; the flags are merge.py's; packages and Spark are those that check_merge.py ran."""

import copy
import os
import re
import sys
from importlib.metadata import version

import yaml
from kubeflow_spark_api.models.spark_v1beta2_scheduled_spark_application import SparkV1beta2ScheduledSparkApplication as Application
from pydantic import ValidationError

HERE = os.path.dirname(os.path.abspath(__file__))
failed = []


def check(what: str, is_right: bool) -> None:
    print(f"{'ok' if is_right else 'NOT OK'}: {what}")
    if not is_right:
        failed.append(what)


def fits(document: dict) -> bool:
    """The models drop what they do not know."""
    try:
        return Application.from_dict(document).to_dict() == document
    except (ValidationError, ValueError):
        return False


with open(f"{HERE}/../../deploy/spark/merge.yaml") as file:
    document = yaml.safe_load(file)
with open(f"{HERE}/../../deploy/spark/merge.py") as file:
    flags = set(re.findall(r'"(--[a-z-]+)"', file.read()))
with open(f"{HERE}/check_merge.py") as file:
    tested = file.read()
spec = document["spec"]["template"]

check("merge.yaml fits the schema of the Spark operator", fits(document))
misspelled, other_type, missing = (copy.deepcopy(document) for _ in range(3))
misspelled["spec"]["template"]["driver"]["serviceAcount"] = "x"
other_type["spec"]["template"]["executor"]["instances"] = "two"
del missing["spec"]["template"]["mainApplicationFile"]
check("a field that is misspelled, of another type or missing would be found", not any(map(fits, (misspelled, other_type, missing))))
check("its flags are those of merge.py", {flag for flag in spec["arguments"] if flag.startswith("--")} <= flags)
check("its packages are those that were run", all(f'"{package}"' in tested for package in spec["deps"]["packages"]))
check("its Spark is the one that was run", spec["sparkVersion"] == version("pyspark") and version("pyspark") in spec["image"])
check("never two runs at once", document["spec"]["concurrencyPolicy"] == "Forbid")
sys.exit(1 if failed else 0)
