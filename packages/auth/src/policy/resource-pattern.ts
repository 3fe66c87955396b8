import { compileWildcard, type PatternPiece, type Wildcard } from './wildcard.ts';

/** `arn:<partition>:<service>:<region>:<account>:<resource>`; the resource keeps its colons. */
export interface Arn {
  readonly service: string;
  readonly account: string;
  readonly resource: string;
}

/** `lakefs` is the partition that policies of existing installations are written with. */
const partitions: ReadonlySet<string> = new Set(['svc', 'lakefs']);

export function parseArn(text: string): Arn | undefined {
  if (!text.startsWith('arn:')) return undefined;
  const partitionEnd = text.indexOf(':', 4);
  if (partitionEnd < 0 || !partitions.has(text.slice(4, partitionEnd))) return undefined;
  const serviceEnd = text.indexOf(':', partitionEnd + 1);
  if (serviceEnd <= partitionEnd + 1) return undefined;
  const regionEnd = text.indexOf(':', serviceEnd + 1);
  if (regionEnd < 0) return undefined;
  const accountEnd = text.indexOf(':', regionEnd + 1);
  if (accountEnd < 0 || accountEnd === text.length - 1) return undefined;
  return {
    service: text.slice(partitionEnd + 1, serviceEnd),
    account: text.slice(regionEnd + 1, accountEnd),
    resource: text.slice(accountEnd + 1),
  };
}

/** The resources of a statement; undefined when a list cannot be read. */
export function resourceList(resource: string): readonly string[] | undefined {
  if (!resource.startsWith('[') || !resource.endsWith(']')) return [resource];
  try {
    const list: unknown = JSON.parse(resource);
    if (Array.isArray(list) && list.every((element) => typeof element === 'string')) return list;
  } catch {
    // Not JSON: same answer as a list of something else.
  }
  return undefined;
}

/** `everything` is the pattern `*`, the only one that also covers a requirement without a resource of its own. */
export type ResourcePattern =
  | 'everything'
  | { readonly service: string; readonly account: string; readonly wildcard: Wildcard };

/**
 * Compiles one resource of a statement for one user; undefined when it can match nothing. The pattern is split
 * before `${user}` is put in, so that nothing in a user's name acts as a wildcard or a separator.
 */
export function compileResource(resource: string, username: string): ResourcePattern | undefined {
  if (resource === '*') return 'everything';
  const arn = parseArn(resource);
  if (arn === undefined) return undefined;
  return {
    service: insertUser(arn.service, username),
    account: insertUser(arn.account, username),
    wildcard: compileWildcard(userPieces(arn.resource, username)),
  };
}

const userVariable = '${user}';

function insertUser(text: string, username: string): string {
  return text.split(userVariable).join(username);
}

function userPieces(pattern: string, username: string): PatternPiece[] {
  const pieces: PatternPiece[] = [];
  for (const [index, text] of pattern.split(userVariable).entries()) {
    if (index > 0) pieces.push({ text: username, literal: true });
    pieces.push({ text, literal: false });
  }
  return pieces;
}
