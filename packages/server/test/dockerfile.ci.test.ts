import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hadolint as fetchHadolint, orSkipReason } from '@svc/testing';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const file = join(root, 'deploy/docker/Dockerfile');
const hadolint = await orSkipReason('hadolint', fetchHadolint);

test.runIf(hadolint !== undefined)('the Dockerfile has none of the mistakes that hadolint knows', () => {
  const found = execFileSync(hadolint ?? '', ['--no-fail', '--format', 'json', file], { encoding: 'utf8' });
  expect(JSON.parse(found)).toEqual([]);
});

test('what the image is made for: another user than root, a health check, port 8000', () => {
  const text = readFileSync(file, 'utf8');
  expect(text).toMatch(/^USER 10001:10001$/m);
  expect(text).toMatch(/^HEALTHCHECK /m);
  expect(text).toMatch(/^EXPOSE 8000\/tcp$/m);
  for (const [, source = ''] of text.matchAll(/sh (deploy\/\S+)/g))
    expect(existsSync(join(root, source))).toBe(true);
});

interface LockedPackage {
  readonly version: string;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
}

/** Packages of compiled code in the image, and the part of their names that tells the processor. */
const native = ['@lmdb/lmdb-linux-', '@node-rs/crc32-linux-', '@msgpackr-extract/msgpackr-extract-linux-'];

test.each(native)('compiled code is there for both processors: %s', (prefix) => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  for (const cpu of ['x64', 'arm64']) {
    const built = Object.entries(packages).filter(
      ([path, { cpu: cpus, os, libc }]) =>
        path.startsWith(`node_modules/${prefix}`) &&
        cpus?.includes(cpu) === true &&
        os?.includes('linux') === true &&
        libc?.includes('musl') !== true,
    );
    expect(built.map(([path]) => path)).toHaveLength(1);
  }
});
