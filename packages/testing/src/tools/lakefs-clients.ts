import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { pythonEnvironment } from '../fetch/python-environment.ts';

/** A Python with the lakeFS SDK, its high-level package and its file system. */
export function lakefsPython(): Promise<string> {
  return pythonEnvironment(['lakefs==0.16.0', 'lakefs-sdk==1.84.0', 'lakefs-spec==0.15.1']);
}

/** The class path of the published collector for Spark, with a Spark that runs it by itself on Java 17. */
export function lakefsSpark(): Promise<string> {
  return mavenClasspath([
    'io.lakefs:lakefs-spark-client-301_2.12:0.10.0',
    'org.apache.spark:spark-sql_2.12:3.0.1',
    'org.apache.hadoop:hadoop-aws:3.2.1',
    'org.apache.hadoop:hadoop-azure:3.2.1',
    'org.apache.hadoop:hadoop-client:3.2.1',
    'org.apache.hadoop:hadoop-common:3.2.1',
    // Those that Spark asks for are older than Java 17.
    'com.thoughtworks.paranamer:paranamer:2.8',
    'org.apache.commons:commons-lang3:3.12.0',
    'org.scala-lang:scala-library:2.12.18',
    // Maven would take versions of which Spark refuses one.
    'com.fasterxml.jackson.core:jackson-annotations:2.10.5',
    'com.fasterxml.jackson.core:jackson-core:2.10.5',
    'com.fasterxml.jackson.core:jackson-databind:2.10.5',
  ]);
}

/** The class path of the lakeFS SDK for Java. */
export function lakefsJava(): Promise<string> {
  return mavenClasspath(['io.lakefs:sdk:1.53.1']);
}
