// Holds package.json and the real imports of a package to each other.
import { importPattern, type SourceFile } from './import-rules.ts';

export interface PackageManifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface PackageSources {
  /** As it is shown. */
  readonly manifestPath: string;
  readonly manifest: PackageManifest;
  readonly files: readonly SourceFile[];
  /** Nothing of it is loaded at run time: a bundler or a test runner reads its development dependencies. */
  readonly isBundled?: boolean | undefined;
  /** Run while the package is developed, never by those who install it. */
  readonly developmentFiles?: readonly string[] | undefined;
  /** Not imported, but asked for by a dependency. */
  readonly peers?: readonly string[] | undefined;
}

/** Lists every dependency that nothing imports and every import that nothing lists, each as one readable line. */
export function findDependencyProblems(
  source: PackageSources,
  root: Pick<PackageManifest, 'devDependencies'>,
): string[] {
  const { manifestPath, manifest, files } = source;
  const production = new Set(Object.keys(manifest.dependencies ?? {}));
  const development = new Set(Object.keys(manifest.devDependencies ?? {}));
  const shared = new Set(Object.keys(root.devDependencies ?? {}));
  const problems = new Set<string>();
  for (const file of files) {
    const isForDevelopment =
      source.isBundled === true ||
      isTestFile(file.path) ||
      source.developmentFiles?.includes(file.path) === true;
    for (const name of importedPackages(file.text)) {
      if (name === manifest.name || production.has(name)) continue;
      const isListed = development.has(name) || (isForDevelopment && shared.has(name));
      if (!isListed) problems.add(`${file.path}: imports "${name}", which ${manifestPath} does not list`);
      else if (!isForDevelopment) {
        problems.add(`${file.path}: imports "${name}", which ${manifestPath} lists for development only`);
      }
    }
  }
  for (const name of [...production, ...development]) {
    if (source.peers?.includes(name) === true) continue;
    if (!files.some(({ text }) => mentions(text, declaredFor(name)))) {
      problems.add(`${manifestPath}: nothing in the package uses "${name}"`);
    }
  }
  return [...problems];
}

function isTestFile(path: string): boolean {
  return /\.test\.tsx?$|\/(?:test|suite|fixtures)\//.test(path);
}

/** Names of the packages a file imports, without what Node.js brings and the files beside it. */
function importedPackages(text: string): Set<string> {
  const names = new Set<string>();
  for (const match of text.matchAll(importPattern)) {
    const target = match[1] ?? match[2] ?? '';
    if (target === '' || target.startsWith('.') || target.startsWith('node:')) continue;
    names.add(packageOf(target));
  }
  return names;
}

function packageOf(target: string): string {
  const [first = '', second = ''] = target.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

/** `@types/x` is used by whoever uses `x`. */
function declaredFor(name: string): string {
  return name.startsWith('@types/') ? name.slice('@types/'.length) : name;
}

/** Imported, or named where a module is looked up (`import.meta.resolve('axe-core/axe.min.js')`). */
function mentions(text: string, name: string): boolean {
  return text.includes(`'${name}'`) || text.includes(`'${name}/`);
}
