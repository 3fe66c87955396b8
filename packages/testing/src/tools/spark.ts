import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { pythonEnvironment } from '../fetch/python-environment.ts';

export interface Spark {
  readonly python: string;
  /** What Spark needs for S3 and its committers, for Delta and Iceberg tables. */
  readonly jars: readonly string[];
}

/** Spark brings the rest of what these depend on. */
const wanted =
  /^(?:hadoop-aws|aws-java-sdk-bundle|wildfly|spark-hadoop-cloud|delta-spark|delta-storage|iceberg-spark-runtime|iceberg-aws-bundle)/;

/** Spark with S3A and formats of tables: more than 1 GB, only the long run needs it. */
export async function spark(): Promise<Spark> {
  const python = await pythonEnvironment(['pyspark==3.5.7']);
  const classpath = await mavenClasspath([
    'org.apache.hadoop:hadoop-aws:3.3.4',
    'org.apache.spark:spark-hadoop-cloud_2.12:3.5.7',
    'io.delta:delta-spark_2.12:3.3.2',
    'org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0',
    'org.apache.iceberg:iceberg-aws-bundle:1.10.0',
  ]);
  const lib = dirname(classpath);
  const jars = readdirSync(lib).filter((name) => wanted.test(name));
  return { python, jars: jars.map((name) => join(lib, name)) };
}
