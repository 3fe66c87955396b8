// Every package lists what it imports and imports what it lists.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findDependencyProblems,
  type PackageManifest,
  type PackageSources,
} from '../packages/testing/src/dependency-rules.ts';
import { packageFolders, readSources, root } from './sources.ts';

const readManifest = (folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as PackageManifest;
/** Bundled or run from the sources, never installed. */
const bundled = ['packages/ui', 'packages/testing', 'bench'];
const generators: Record<string, Pick<PackageSources, 'developmentFiles' | 'peers'>> = {
  // `openapi-typescript` works with TypeScript 5 only.
  'packages/client': {
    developmentFiles: ['packages/client/src/bin/render-types.ts'],
    peers: ['typescript'],
  },
};

const problems = packageFolders().flatMap((folder) =>
  findDependencyProblems(
    {
      manifestPath: `${folder}/package.json`,
      manifest: readManifest(folder),
      files: readSources(folder),
      isBundled: bundled.includes(folder),
      ...generators[folder],
    },
    readManifest('.'),
  ),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log('every package lists what it imports and imports what it lists');
