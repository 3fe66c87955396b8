import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const manifests = [
  '.',
  'bench',
  'site',
  ...readdirSync(join(root, 'packages')).map((name) => join('packages', name)),
];

describe('docs/dependencies.md', () => {
  it('gives a reason for every dependency, all pinned exactly', () => {
    const text = readFileSync(join(root, 'docs', 'dependencies.md'), 'utf8');
    const problems: string[] = [];
    for (const folder of manifests) {
      const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
      const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
      for (const [name, version] of Object.entries(all)) {
        if (name.startsWith('@svc/')) continue;
        if (!text.includes(`\`${name}\``)) problems.push(`${folder}: ${name} is not listed`);
        if (!/^\d/.test(version)) problems.push(`${folder}: ${name} is not pinned (${version})`);
      }
    }
    expect(problems).toEqual([]);
  });

  it('keeps download addresses out of the lock file', () => {
    for (const folder of ['.', 'site']) {
      const lock = readFileSync(join(root, folder, 'package-lock.json'), 'utf8');
      expect(lock).not.toMatch(/"resolved": "https?:/);
    }
  });
});
