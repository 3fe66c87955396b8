import { CliError } from './errors.ts';

export const scheme = 'svc://';
/** Accepted on input so that existing scripts keep working; never printed. */
const aliasScheme = 'lakefs://';

const repositoryPattern = /^[a-z0-9][a-z0-9-]{2,62}$/;
const refPattern = /^[^\s]+$/;
/** `@{2 hours ago}`: the only place where a ref may have blanks. */
const timePattern = /@\{[^{}]*\}/;
const branchPattern = /^\w[-\w]*$/;

/** `path` absent and `path` empty differ: `svc://r/b` has none, `svc://r/b/` has the empty one. */
export interface Uri {
  readonly repository: string;
  readonly ref: string | undefined;
  readonly path: string | undefined;
}

export interface RefUri extends Uri {
  readonly ref: string;
}

export interface PathUri extends RefUri {
  readonly path: string;
}

export function formatUri(uri: Uri): string {
  let text = scheme + uri.repository;
  if (uri.ref !== undefined) text += `/${uri.ref}`;
  if (uri.path !== undefined) text += `/${uri.path}`;
  return text;
}

/** Reads URI arguments; arguments without a scheme are completed with the base URI. */
export class UriParser {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  repository(argument: string, name: string): Uri {
    const uri = this.#parse(argument, name, 'repository');
    if (uri.ref !== undefined && uri.ref !== '') throw invalid(name, 'includes a ref part', 'repository');
    if (uri.path !== undefined) throw invalid(name, 'includes a path part', 'repository');
    return { repository: uri.repository, ref: undefined, path: undefined };
  }

  ref(argument: string, name: string): RefUri {
    const uri = this.#withRef(argument, name, 'ref');
    if (uri.path !== undefined && uri.path !== '') throw invalid(name, 'includes a path part', 'ref');
    return { repository: uri.repository, ref: uri.ref, path: undefined };
  }

  branch(argument: string, name: string): RefUri {
    const uri = this.#withRef(argument, name, 'branch');
    if (uri.path !== undefined && uri.path !== '' && uri.path !== '/') {
      throw invalid(name, 'includes a path part', 'branch');
    }
    if (!branchPattern.test(uri.ref)) throw invalid(name, 'invalid branch name', 'branch');
    return { repository: uri.repository, ref: uri.ref, path: undefined };
  }

  path(argument: string, name: string): PathUri {
    const uri = this.#withRef(argument, name, 'path');
    if (uri.path === undefined) throw invalid(name, 'missing path part', 'path');
    return { repository: uri.repository, ref: uri.ref, path: uri.path };
  }

  /** Any kind; for completion and for commands that take several kinds. */
  any(argument: string, name: string): Uri {
    return this.#parse(argument, name, 'svc');
  }

  #withRef(argument: string, name: string, kind: string): RefUri {
    const uri = this.#parse(argument, name, kind);
    if (uri.ref === undefined || uri.ref === '') throw invalid(name, 'missing reference part', kind);
    if (!refPattern.test(uri.ref.replace(timePattern, '@')))
      throw invalid(name, 'invalid reference name', kind);
    return { ...uri, ref: uri.ref };
  }

  #parse(argument: string, name: string, kind: string): Uri {
    const rest = withoutScheme(this.#complete(argument));
    if (rest === undefined) throw malformed(name);
    const [repository = '', ...others] = rest.split('/');
    if (repository === '') throw invalid(name, 'missing repository part', kind);
    if (/[@:]/.test(repository)) throw malformed(name);
    if (!repositoryPattern.test(repository)) throw invalid(name, 'invalid repository name', kind);
    const [ref, ...path] = others;
    return {
      repository,
      ref: ref === undefined ? undefined : decode(ref, name),
      path: path.length === 0 ? undefined : decode(path.join('/'), name),
    };
  }

  #complete(argument: string): string {
    if (withoutScheme(argument) !== undefined || this.#base === '') return argument;
    const separator = this.#base.endsWith('/') || argument.startsWith('/') ? '' : '/';
    return this.#base + separator + argument;
  }
}

function withoutScheme(text: string): string | undefined {
  if (text.startsWith(scheme)) return text.slice(scheme.length);
  if (text.startsWith(aliasScheme)) return text.slice(aliasScheme.length);
  return undefined;
}

/** `?` and `#` are ordinary characters of a key: `fs rm svc://r/b/a?b` must not delete `a`. */
function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(name);
  }
}

function malformed(name: string): CliError {
  return new CliError(`${name} malformed svc URI`);
}

function invalid(name: string, reason: string, kind: string): CliError {
  return new CliError(`${name} ${reason}: not a valid ${kind} URI`);
}
