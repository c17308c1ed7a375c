"""What a table of tasks holds, in one line per column: the same as make-lake.ts computes from the mirror by SQL."""

import hashlib

import pyarrow as pa
import pyarrow.compute as pc


def differences(table: pa.Table, expected: dict, columns: list[dict]) -> list[str]:
    """In words; none where rows, types and every value are those of the mirror."""
    if table.num_rows != expected["rows"]:
        return [f"{table.num_rows} rows, not {expected['rows']}"]
    found = []
    order = pc.sort_indices(table.column("id").cast(pa.large_string()))
    for column in columns:
        name, kind = column["name"], column["kind"]
        values = table.column(name)
        if not has_type(values.type, kind):
            found.append(f"{name} is {values.type}")
            continue
        if digest(values, kind, order) != expected["columns"][name]:
            found.append(f"{name} has other values")
    return found


def has_type(type_: pa.DataType, kind: str) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if kind == "timestamp_ms":
        return pa.types.is_timestamp(type_) and type_.tz is not None
    if kind == "int64":
        return type_ == pa.int64()
    return pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_)


def digest(values: pa.ChunkedArray, kind: str, order: pa.Array) -> str:
    if kind == "timestamp_ms":
        values = values.cast(pa.timestamp("ms", tz="UTC")).cast(pa.int64())
    values = values.cast(pa.large_string()).take(order).cast(pa.large_binary())
    lengths = pc.fill_null(pc.binary_length(values).cast(pa.int32()), -1)
    sizes, contents = hashlib.sha256(), hashlib.sha256()
    for chunk in lengths.chunks:
        sizes.update(chunk.to_numpy())
    for chunk in pc.fill_null(values, b"").chunks:
        offsets = memoryview(chunk.buffers()[1]).cast("q")
        if len(chunk) > 0 and chunk.buffers()[2] is not None:
            first, last = offsets[chunk.offset], offsets[chunk.offset + len(chunk)]
            contents.update(memoryview(chunk.buffers()[2])[first:last])
    return f"{sizes.hexdigest()[:16]}-{contents.hexdigest()[:16]}"
