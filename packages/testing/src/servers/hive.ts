import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mavenClasspath } from '../fetch/maven-classpath.ts';
import { freePort } from '../free-port.ts';
import { runCommand } from '../run-command.ts';
import { acceptsConnections, ServerProcess } from './server-process.ts';

/** Its class path. */
export function fetchHive(): Promise<string> {
  return mavenClasspath([
    'org.apache.hive:hive-standalone-metastore:3.1.3',
    'org.apache.hadoop:hadoop-common:3.3.6',
  ]);
}

/** A metastore makes a folder for each table: buckets are folders of this machine. */
const bucketsInFolders = `
import java.io.File;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

public class BucketsInFolders extends RawLocalFileSystem {
  private URI bucket;

  @Override
  public void initialize(URI name, Configuration settings) throws IOException {
    super.initialize(name, settings);
    bucket = URI.create(name.getScheme() + "://" + name.getAuthority());
    pathToFile(new Path("/")).mkdirs();
  }

  @Override
  public URI getUri() {
    return bucket == null ? super.getUri() : bucket;
  }

  @Override
  protected void checkPath(Path path) {}

  @Override
  public File pathToFile(Path path) {
    return new File(getConf().get("buckets.folder"), bucket.getAuthority() + path.toUri().getPath());
  }
}
`;

export interface RunningHive {
  /** `host:port`. */
  readonly address: string;
  readonly dispose: () => Promise<void>;
}

/** Hive's own metastore on a database in memory. It takes half a minute to start. */
export async function startHive(): Promise<RunningHive> {
  const classpath = await fetchHive();
  const folder = await mkdtemp(join(tmpdir(), 'svc-hive-'));
  const port = await freePort();
  const settings = {
    'javax.jdo.option.ConnectionURL': `jdbc:derby:memory:hive;create=true`,
    'datanucleus.schema.autoCreateAll': 'true',
    'metastore.schema.verification': 'false',
    'metastore.warehouse.dir': `file://${folder}/warehouse`,
    'metastore.expression.proxy': 'org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy',
    'metastore.task.threads.always': 'org.apache.hadoop.hive.metastore.events.EventCleanerTask',
    'fs.s3a.impl': 'BucketsInFolders',
    'buckets.folder': `${folder}/buckets`,
  };
  const properties = Object.entries(settings).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  await writeFile(
    join(folder, 'metastore-site.xml'),
    `<configuration>${properties.join('')}</configuration>`,
  );
  await writeFile(join(folder, 'BucketsInFolders.java'), bucketsInFolders);
  await runCommand('javac', ['-proc:none', '-cp', classpath, 'BucketsInFolders.java'], { cwd: folder });
  const server = new ServerProcess(
    'java',
    [
      '-Xmx512m',
      '-cp',
      `${folder}:${classpath}`,
      'org.apache.hadoop.hive.metastore.HiveMetaStore',
      '-p',
      String(port),
    ],
    { cwd: folder, ready: () => acceptsConnections(port), timeoutMs: 240_000 },
  );
  await server.start();
  return {
    address: `127.0.0.1:${port}`,
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
