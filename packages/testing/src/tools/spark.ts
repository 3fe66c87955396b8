import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { pythonEnvironment } from '../fetch/python-environment.ts';

export interface Spark {
  readonly python: string;
  /** What Spark needs to speak S3. */
  readonly jars: readonly string[];
}

/** Spark with S3A: 800 MB, only the long run needs it. */
export async function spark(): Promise<Spark> {
  const python = await pythonEnvironment(['pyspark==3.5.7']);
  const lib = dirname(await mavenClasspath(['org.apache.hadoop:hadoop-aws:3.3.4']));
  const jars = readdirSync(lib).filter((name) => /^(?:hadoop-aws|aws-java-sdk-bundle|wildfly)/.test(name));
  return { python, jars: jars.map((name) => join(lib, name)) };
}
