"""Tables of the catalog with PyIceberg: written on a branch, read wherever they are merged to."""
import sys
import threading

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    ForbiddenError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

step, endpoint, access_key, secret_key = sys.argv[1:5]


def catalog(**more):
    return load_catalog("svc", type="rest", uri=f"{endpoint}/iceberg", credential=f"{access_key}:{secret_key}", **more)


def rows(start, count=10):
    return pa.table({"n": pa.array(range(start, start + count), pa.int64()), "s": ["x"] * count})


def numbers(table):
    return sorted(table.scan().to_arrow()["n"].to_pylist())


def expect(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: expected {wanted}, found {found}")


def refused(error, work, what):
    try:
        work()
    except error:
        return
    raise SystemExit(f"{what} was not refused with {error.__name__}")


lake = catalog(warehouse="lake")

if step == "make":
    everything = catalog()
    expect(("lake",) in everything.list_namespaces(), True, "repositories")
    expect(("lake", "dev") in everything.list_namespaces(("lake",)), True, "refs")
    everything.create_namespace(("lake", "dev", "sales"), {"owner": "ada"})
    expect(everything.load_namespace_properties(("lake", "dev", "sales"))["owner"], "ada", "properties")
    expect(lake.list_namespaces("dev"), [("dev", "sales")], "namespaces of a ref")
    dev = catalog(warehouse="lake/dev")
    expect(dev.list_namespaces(), [("sales",)], "namespaces of a warehouse with a ref")
    table = dev.create_table("sales.orders", schema=rows(0).schema, properties={"a": "b"})
    refused(TableAlreadyExistsError, lambda: dev.create_table("sales.orders", schema=rows(0).schema), "a second table")
    table.append(rows(0))
    table.append(rows(10))
    table.delete("n < 5")
    with table.update_schema() as update:
        update.add_column("note", StringType())
    expect(numbers(lake.load_table("dev.sales.orders")), list(range(5, 20)), "rows")
    expect([field.name for field in lake.load_table("dev.sales.orders").schema().fields], ["n", "s", "note"], "schema")
    parted = dev.create_table(
        "sales.parted",
        schema=Schema(NestedField(1, "n", LongType()), NestedField(2, "s", StringType())),
        partition_spec=PartitionSpec(PartitionField(source_id=1, field_id=1000, transform=IdentityTransform(), name="n")),
    )
    parted.append(rows(0, 3))
    expect(numbers(dev.load_table("sales.parted")), [0, 1, 2], "rows of a partitioned table")
    with dev.create_table_transaction("sales.staged", schema=rows(0).schema) as staged:
        staged.append(rows(0, 4))
    expect(numbers(dev.load_table("sales.staged")), [0, 1, 2, 3], "rows of a staged table")
    dev.rename_table("sales.staged", "sales.renamed")
    expect(numbers(dev.load_table("sales.renamed")), [0, 1, 2, 3], "rows of a renamed table")
    refused(NoSuchTableError, lambda: dev.load_table("sales.staged"), "the old name")
    refused(NamespaceNotEmptyError, lambda: dev.drop_namespace("sales"), "a namespace with tables")
    dev.drop_table("sales.renamed")
    expect(sorted(name[-1] for name in dev.list_tables("sales")), ["orders", "parted"], "tables")

    # Two writers of one table: one wins, the other is told so, looks again and comes after it.
    one, two = dev.load_table("sales.orders"), dev.load_table("sales.orders")
    one.append(rows(100, 1))
    two.append(rows(200, 1))

    def work(start):
        table = dev.load_table("sales.orders")
        while True:
            try:
                return table.append(rows(start, 1))
            except CommitFailedException:
                table.refresh()

    threads = [threading.Thread(target=work, args=(1000 + at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = [*range(5, 20), 100, 200, 1000, 1001, 1002, 1003]
    expect(numbers(dev.load_table("sales.orders")), wanted, "rows of four writers")

elif step == "read":
    # After the merge, without the branch: the same metadata shows main's files.
    for ref in sys.argv[5:]:
        table = lake.load_table((ref, "sales", "orders"))
        wanted = [*range(5, 20), 100, 200, 1000, 1001, 1002, 1003]
        expect(numbers(table), wanted, f"rows on {ref}")
        expect("dev" in table.metadata.model_dump_json(), False, "a ref in the metadata")
        if ref != "main":
            refused(OSError, lambda: table.append(rows(0, 1)), f"a file for {ref}")
            refused(ForbiddenError, lambda: table.transaction().set_properties(a="c").commit_transaction(), f"a commit to {ref}")

elif step == "purge":
    lake.purge_table("dev.sales.orders")
    refused(NoSuchTableError, lambda: lake.load_table("dev.sales.orders"), "the purged table")

elif step == "append":
    lake.load_table((sys.argv[5], "sales", "orders")).append(rows(int(sys.argv[6]), 1))

elif step == "plain":
    lake.create_table("main.plain", schema=rows(0).schema).append(rows(0))

elif step == "parted":
    lake.create_table(
        "main.shared",
        schema=Schema(NestedField(1, "n", LongType()), NestedField(2, "s", StringType())),
        partition_spec=PartitionSpec(PartitionField(source_id=2, field_id=1000, transform=IdentityTransform(), name="s")),
    ).append(rows(0, 3))

elif step == "changes":
    for word in sys.argv[5:]:
        ref, what, *values = word.split("/")
        values = [int(value) for value in values]
        table = lake.load_table((ref, "shared"))
        if what == "rows":
            table.append(pa.table({"n": pa.array(values, pa.int64()), "s": [f"p{value}" for value in values]}))
        elif what == "delete":
            table.delete(f"n == {values[0]}")
        elif what == "widen":
            with table.update_schema() as update:
                update.add_column("note", StringType())
        elif what == "property":
            with table.transaction() as change:
                change.set_properties(owner="ada")
        elif what == "union":
            expect(numbers(table), values, "rows of both branches")
            expect([row["n"] for row in table.scan(row_filter="s == 'p50'").to_arrow().to_pylist()], [50], "rows of a partition")
            expect(table.current_snapshot().summary["total-records"], str(len(values)), "rows that the snapshot tells")
            ordered = [snapshot.sequence_number for snapshot in table.snapshots()]
            expect(ordered, sorted(set(ordered)), "sequence numbers")
            # Every snapshot can be read, also those that were put behind others.
            seen = [table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows for snapshot in table.snapshots()]
            expect(seen[:5], [3, 5, 6, 8, 10], "rows of the older snapshots")
