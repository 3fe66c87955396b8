import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { fetchOnce } from './fetch-once.ts';

/** A class path holding these Maven artefacts (`group:artefact:version`) with everything they need. */
export async function mavenClasspath(artefacts: readonly string[]): Promise<string> {
  const sorted = [...artefacts].sort();
  const digest = createHash('sha256').update(sorted.join('\n')).digest('hex').slice(0, 12);
  const folder = await fetchOnce(`maven-${digest}`, sorted.join(', '), async (target) => {
    const dependencies = sorted.map((artefact) => {
      const [group, name, version] = artefact.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
    });
    await writeFile(
      join(target, 'pom.xml'),
      `<project><modelVersion>4.0.0</modelVersion><groupId>svc</groupId><artifactId>tests</artifactId><version>1</version><dependencies>${dependencies.join('')}</dependencies></project>`,
    );
    await runCommand('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], {
      cwd: target,
    });
  });
  return join(folder, 'lib', '*');
}
