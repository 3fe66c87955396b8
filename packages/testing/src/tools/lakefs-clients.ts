import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { pythonEnvironment } from '../fetch/python-environment.ts';

/** A Python with the lakeFS SDK, its high-level package and its file system. */
export function lakefsPython(): Promise<string> {
  return pythonEnvironment(['lakefs==0.16.0', 'lakefs-sdk==1.84.0', 'lakefs-spec==0.15.1']);
}

/** The class path of the lakeFS SDK for Java. */
export function lakefsJava(): Promise<string> {
  return mavenClasspath(['io.lakefs:sdk:1.53.1']);
}
