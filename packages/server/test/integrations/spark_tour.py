"""What the page about Spark does not show, with its settings."""
import json
import subprocess
import time

from pyspark.sql import SparkSession, functions

spark = SparkSession.builder.getOrCreate()


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: expected {wanted}, found {found}")


def svcctl(*args):
    done = subprocess.run(["svcctl", *args], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"svcctl {args}: {done.stdout}{done.stderr}")
    return done.stdout


def numbers(table):
    return sorted(row[0] for row in spark.table(table).select("n").collect())


def files(path):
    return [line.split()[-1] for line in svcctl("fs", "ls", "-r", f"svc://tour/{path}").splitlines() if line]


def committed_by(committer):
    """Writes, replaces and appends; says what is in the file that tells of success."""
    place = f"s3a://tour/main/{committer}"
    rows = spark.range(0, 100, 1, 4).withColumn("p", functions.col("id") % 2)
    rows.write.mode("overwrite").partitionBy("p").parquet(place)
    rows.where("id < 10").write.mode("append").partitionBy("p").parquet(place)
    expect(spark.read.parquet(place).count(), 110, f"rows of the committer {committer}")
    rows.where("id < 50").write.mode("overwrite").partitionBy("p").parquet(place)
    expect(spark.read.parquet(place).count(), 50, f"rows replaced by the committer {committer}")
    left = [name for name in files(f"main/{committer}/") if "__magic" in name or "_temporary" in name]
    expect(left, [], f"what the committer {committer} leaves")
    return svcctl("fs", "cat", f"svc://tour/main/{committer}/_SUCCESS")


svcctl("repo", "create", "svc://tour", "local://spark-tour")

# Committers.
cloud = "org.apache.spark.internal.io.cloud"
magic = {
    "fs.s3a.committer.name": "magic",
    "spark.sql.sources.commitProtocolClass": f"{cloud}.PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class": f"{cloud}.BindingParquetOutputCommitter",
}
for name, value in magic.items():
    spark.conf.set(name, value)
expect(json.loads(committed_by("magic"))["committer"], "magic", "the committer")
for name in magic:
    spark.conf.unset(name)
for algorithm in ("1", "2"):
    spark.conf.set("mapreduce.fileoutputcommitter.algorithm.version", algorithm)
    expect(committed_by(f"rename-{algorithm}"), "", "the file of the committer that renames")

# A branch at a time.
spark.range(10).write.mode("overwrite").parquet("s3a://tour/main/t")
svcctl("commit", "svc://tour/main", "-m", "ten")
time.sleep(1.1)
moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
time.sleep(1.1)
spark.range(20).write.mode("overwrite").parquet("s3a://tour/main/t")
svcctl("commit", "svc://tour/main", "-m", "twenty")
expect([spark.read.parquet(f"s3a://tour/{ref}/t").count() for ref in ("main", f"main@{moment}")], [20, 10], "rows at a time")

# Delta: a table made on one branch, changed on another and merged.
delta = "s3a://tour/main/delta"
spark.range(10).withColumnRenamed("id", "n").write.format("delta").save(delta)
svcctl("commit", "svc://tour/main", "-m", "delta")
svcctl("branch", "create", "svc://tour/dev", "--source", "svc://tour/main")
spark.sql("MERGE INTO delta.`s3a://tour/dev/delta` AS t USING (SELECT 5 AS n UNION SELECT 50) AS s ON t.n = s.n WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *")
spark.sql("OPTIMIZE delta.`s3a://tour/dev/delta`")
expect(numbers(f"delta.`{delta}`"), list(range(10)), "rows of main")
svcctl("commit", "svc://tour/dev", "-m", "delta")
svcctl("merge", "svc://tour/dev", "svc://tour/main")
wanted = [0, 1, 2, 3, 4, 6, 7, 8, 9, 50]
spark.catalog.clearCache()
expect(sorted(row[0] for row in spark.read.format("delta").load(delta).collect()), wanted, "rows merged")

# Iceberg in a Hadoop catalog, whose metadata names the branch.
for name, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": "s3a://tour/main/warehouse"}.items():
    spark.conf.set(f"spark.sql.catalog.hadoop{name}", value)
spark.sql("CREATE TABLE hadoop.db.t (n BIGINT, s STRING) USING iceberg")
spark.sql("INSERT INTO hadoop.db.t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
spark.sql("DELETE FROM hadoop.db.t WHERE n = 2")
spark.sql("ALTER TABLE hadoop.db.t ADD COLUMN more DOUBLE")
spark.sql("INSERT INTO hadoop.db.t VALUES (4, 'd', 1.5)")
expect(numbers("hadoop.db.t"), [1, 3, 4], "rows of a Hadoop catalog")
first = spark.sql("SELECT snapshot_id FROM hadoop.db.t.snapshots ORDER BY committed_at").first()[0]
expect(spark.sql(f"SELECT count(*) FROM hadoop.db.t VERSION AS OF {first}").first()[0], 3, "rows of a snapshot")
spark.sql("CALL hadoop.system.rewrite_data_files(table => 'db.t')")
expect(numbers("hadoop.db.t"), [1, 3, 4], "rows after a compaction")

# Iceberg in the catalog of svc: settings as on the page, for this repository.
for name in ("", ".type", ".uri", ".credential", ".oauth2-server-uri", ".token-exchange-enabled", ".io-impl"):
    spark.conf.set(f"spark.sql.catalog.tour{name}", spark.conf.get(f"spark.sql.catalog.lake{name}"))
spark.conf.set("spark.sql.catalog.tour.warehouse", "tour")
svcctl("commit", "svc://tour/main", "-m", "so far")
spark.sql("CREATE NAMESPACE tour.main.db")
for version in (2, 3):
    table = f"tour.main.db.v{version}"
    spark.sql(f"CREATE TABLE {table} (n BIGINT, s STRING) PARTITIONED BY (s) TBLPROPERTIES ('format-version' = '{version}', 'write.delete.mode' = 'merge-on-read')")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    spark.sql(f"DELETE FROM {table} WHERE n = 2")
    spark.sql(f"MERGE INTO {table} AS t USING (SELECT 3 AS n, 'z' AS s) AS u ON t.n = u.n WHEN MATCHED THEN UPDATE SET s = u.s")
    expect(numbers(table), [1, 3], f"rows of format version {version}")
spark.sql("CALL tour.system.rewrite_data_files(table => 'main.db.v2')")
svcctl("commit", "svc://tour/main", "-m", "tables")
svcctl("branch", "create", "svc://tour/side", "--source", "svc://tour/main")
for version in (2, 3):
    spark.sql(f"INSERT INTO tour.side.db.v{version} VALUES (10, 'a'), (11, 'q')")
    spark.sql(f"INSERT INTO tour.side.db.v{version} VALUES (12, 'a')")
    spark.sql(f"INSERT INTO tour.main.db.v{version} VALUES (20, 'a'), (21, 'b')")
for branch in ("side", "main"):
    svcctl("commit", f"svc://tour/{branch}", "-m", "more rows")
svcctl("merge", "svc://tour/side", "svc://tour/main", "--resolve", "append:table:db.v2", "--resolve", "append:table:db.v3")
for version in (2, 3):
    table = f"tour.main.db.v{version}"
    spark.sql(f"REFRESH TABLE {table}")
    expect(numbers(table), [1, 3, 10, 11, 12, 20, 21], f"rows of two branches, format version {version}")
    expect(spark.table(table).where("s = 'a'").count(), 4, "rows of a partition")
    # Everything that comes after works on what was put together.
    spark.sql(f"DELETE FROM {table} WHERE n IN (11, 20)")
    spark.sql(f"INSERT INTO {table} VALUES (30, 'a')")
    expect(numbers(table), [1, 3, 10, 12, 21, 30], f"rows after more changes, format version {version}")
    spark.sql(f"CALL tour.system.rewrite_data_files(table => 'main.db.v{version}', options => map('rewrite-all', 'true'))")
    spark.sql(f"CALL tour.system.rewrite_manifests('main.db.v{version}')")
    expect(numbers(table), [1, 3, 10, 12, 21, 30], f"rows after a compaction, format version {version}")
ids = [row[0] for row in spark.sql("SELECT _row_id FROM tour.main.db.v3").collect()]
expect(len(set(ids)), 6, "different row ids")
print("done")
