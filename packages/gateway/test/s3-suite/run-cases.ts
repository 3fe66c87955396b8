import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { adminKey, type TestGateway } from '../compose.ts';
import { startBucketProxy } from './bucket-proxy.ts';
import { otherGroups } from './not-applicable.ts';

export interface CaseResult {
  readonly name: string;
  readonly passed: boolean;
  /** What the suite says of a failure. */
  readonly failure: string;
}

/** The names of the suite's cases that are about what the gateway does. */
export async function caseNames(program: string): Promise<string[]> {
  const help = await run(program, ['test', '--help']);
  const commands = [...help.matchAll(/^ {3}([A-Z][A-Za-z0-9]+(?:_\w+)?) {2,}/gm)].map(
    ([, name]) => name ?? '',
  );
  return commands.filter((name) => !otherGroups.some(([pattern]) => pattern.test(name)));
}

/** Runs cases, some at a time, each with buckets of its own on one gateway. */
export async function runCases(
  program: string,
  gateway: TestGateway,
  names: readonly string[],
): Promise<CaseResult[]> {
  const rest = [...names.entries()];
  const results: CaseResult[] = [];
  const work = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const [index, name] = next;
      results.push(await runCase(program, gateway, name, `c${index}-`));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return results.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

async function runCase(
  program: string,
  gateway: TestGateway,
  name: string,
  buckets: string,
): Promise<CaseResult> {
  const proxy = await startBucketProxy(gateway, buckets);
  try {
    const { accessKeyId, secretAccessKey } = adminKey;
    const key = ['-a', accessKeyId, '-s', secretAccessKey];
    const output = await run(program, ['test', ...key, '-e', proxy.endpoint, name]);
    const passed = output.includes('PASS') && !output.includes('FAIL');
    return { name, passed, failure: passed ? '' : output.slice(0, 1000) };
  } finally {
    await proxy.close();
  }
}

/** What the program says, whether or not it is content. */
function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    // Nothing of the environment: settings for S3 clients in it would be followed.
    const options = { env: { HOME: tmpdir() }, cwd: tmpdir(), timeout: 240_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
