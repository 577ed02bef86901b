"""Reads an export of Agon with pandas, polars and DuckDB and compares what they see.

    agon export RUN... -o DIR
    python read_exports.py DIR        (needs pandas, pyarrow, polars and duckdb)

Prints rows, sums of every column of numbers, true flags and bytes of text of each table, and fails where
two readers differ.
"""

import math
import pathlib
import sys

import duckdb
import pandas
import polars
import pyarrow.parquet


def kinds(path):
    """Columns by kind: numbers, flags, texts."""
    names = {"int64": "number", "double": "number", "bool": "flag", "string": "text"}
    schema = pyarrow.parquet.read_schema(path)
    return {field.name: names[str(field.type)] for field in schema}


def by_pandas(path, columns):
    table = pandas.read_parquet(path)
    of = {
        "number": lambda column: float(column.sum()),
        "flag": lambda column: float(column.fillna(False).astype(bool).sum()),
        "text": lambda column: float(sum(len(text.encode()) for text in column.dropna())),
    }
    return [len(table)] + [of[kind](table[name]) for name, kind in columns.items()]


def by_polars(path, columns):
    table = polars.scan_parquet(path)
    of = {
        "number": lambda name: polars.col(name).cast(polars.Float64).sum(),
        "flag": lambda name: polars.col(name).sum().cast(polars.Float64),
        "text": lambda name: polars.col(name).str.len_bytes().sum().cast(polars.Float64),
    }
    sums = [of[kind](name).alias(name) for name, kind in columns.items()]
    return list(table.select(polars.len().alias("rows"), *sums).collect().row(0))


def by_duckdb(path, columns):
    of = {
        "number": 'coalesce(sum("{}"::double), 0)',
        "flag": 'count(*) filter (where "{}")::double',
        "text": 'coalesce(sum(strlen("{}")), 0)::double',
    }
    sums = [of[kind].format(name) for name, kind in columns.items()]
    return list(duckdb.sql(f"select count(*), {', '.join(sums)} from '{path}'").fetchall()[0])


def main(folder):
    differing = 0
    for path in sorted(pathlib.Path(folder).rglob("*.parquet")):
        columns = kinds(path)
        readers = {"pandas": by_pandas, "polars": by_polars, "duckdb": by_duckdb}
        seen = {name: reader(path, columns) for name, reader in readers.items()}
        print(f"{path.name}: {seen['pandas'][0]:,} rows")
        for place, column in enumerate(["rows", *columns]):
            one, *others = (float(values[place] or 0) for values in seen.values())
            same = all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6) for other in others)
            differing += not same
            print(f"  {column:<20} {one:>22,.3f}" + ("" if same else f"  DIFFERS: {others}"))
    sys.exit(f"{differing} sums differ" if differing else 0)


if __name__ == "__main__":
    main(sys.argv[1])
