import { addressRelative, decodeEntry, decodeStagedEntry, parseXid, type Entry } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import { TokenScan } from '../staging/token-scan.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** After so many keys it is made sure that the tokens read are still those of the branch. */
const keysPerStep = 10_000;

export interface StagedAddress {
  /** Relative to the namespace. */
  readonly address: string;
  /** The whole address where it was staged as one. */
  readonly full?: string | undefined;
  /** Unix seconds. */
  readonly modified: number;
}

export interface StagedPage {
  /** Takes an address that some value points to; the same one may come again. */
  add(address: StagedAddress): Promise<void>;
  /** Whether the page is to end before the next key. */
  isOver(): boolean;
  /** How many keys it covers for certain. */
  keys: number;
}

/**
 * Hands every address that a branch's staged values point to, from a key on, to a page; answers the key at which the page
 * ended before the branch did. A commit or a fold may drop tokens while they are read and move unread entries out of
 * sight. Then the keys since the last check of the branch are read again.
 */
export async function readStagedAddresses(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  from: Buffer | undefined,
  page: StagedPage,
): Promise<Buffer | undefined> {
  let start = from;
  for (let lost = 0; lost < maxTries;) {
    const head = await context.branches.find(scope, branch);
    if (head === undefined) return undefined;
    const { next, isOver, keys } = await readStep(context, scope, head, start, page);
    const after = await context.branches.find(scope, branch);
    if (after === undefined) return undefined;
    if (!head.tokens.every((token) => after.tokens.some((other) => other.equals(token)))) {
      lost += 1;
      continue;
    }
    page.keys += keys;
    if (next === undefined || isOver) return next;
    start = next;
    lost = 0;
  }
  throw new EngineError('busy', `branch '${branch}' is committed to all the time: try again later`, {
    subject: 'branch',
  });
}

async function readStep(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  start: Buffer | undefined,
  page: StagedPage,
): Promise<{ readonly next: Buffer | undefined; readonly isOver: boolean; readonly keys: number }> {
  let previous: Buffer | undefined;
  let keys = 0;
  for await (const { key, value } of everyStagedValue(context, head.tokens, start)) {
    // A step ends between keys, so the next one starts at a key and repeats nothing.
    if (previous === undefined || !previous.equals(key)) {
      // At least one key a page, or a short interval would never get anywhere.
      const isOver = page.keys + keys > 0 && page.isOver();
      if (isOver || keys === keysPerStep) return { next: Buffer.from(key), isOver, keys };
      keys += 1;
    }
    previous = key;
    const entry = stagedEntry(value);
    const address = entry === undefined ? undefined : relativeAddress(scope, entry);
    if (entry !== undefined && address !== undefined) {
      const full = entry.addressType === addressRelative ? undefined : entry.address;
      await page.add({ address, full, modified: entry.lastModified.seconds });
    }
  }
  return { next: undefined, isOver: false, keys };
}

/**
 * Every value of every token in key order, also those a newer token hides: a reader may still resolve to one of
 * them, and an identical re-upload shows as no change although its data is the one being read.
 */
async function* everyStagedValue(
  context: EngineContext,
  tokens: readonly Buffer[],
  from: Buffer | undefined,
): AsyncGenerator<{ key: Buffer; value: Buffer }> {
  const live: TokenScan[] = [];
  try {
    for (const token of tokens) {
      const scan = new TokenScan(context.kv, token, { from });
      if (await scan.next()) live.push(scan);
    }
    while (live.length > 0) {
      let at = 0;
      for (const [index, scan] of live.entries()) {
        if (Buffer.compare(scan.key, live[at]?.key ?? scan.key) < 0) at = index;
      }
      const smallest = live[at];
      if (smallest === undefined) return;
      yield { key: smallest.key, value: smallest.value };
      if (!(await smallest.next())) live.splice(at, 1);
    }
  } finally {
    for (const scan of live) scan.close();
  }
}

function stagedEntry(value: Buffer): Entry | undefined {
  const staged = decodeStagedEntry(value);
  return staged.identity.length === 0 ? undefined : decodeEntry(staged.data);
}

/** The address relative to the namespace; undefined when the data lies outside of it. */
function relativeAddress(scope: RepositoryScope, entry: Entry): string | undefined {
  if (entry.addressType === addressRelative) return entry.address;
  const namespace = `${trimSlash(scope.repository.storageNamespace)}/`;
  if (entry.address.startsWith(namespace)) return entry.address.slice(namespace.length);
  if (!entry.address.includes('://')) return entry.address;
  // A namespace may be spelled in several ways: an address we could have made counts as inside.
  const [folder, partition, name] = entry.address.split('/').slice(-3);
  const isOurs = folder === 'data' && isDataName(partition, name);
  return isOurs ? `${folder}/${partition}/${name}` : undefined;
}

/** `<xid>/<xid>`, the latter with a signature or without. */
function isDataName(partition: string | undefined, name: string | undefined): boolean {
  const [xid = ''] = (name ?? '').split(',');
  return parseXid(partition ?? '') !== undefined && parseXid(xid) !== undefined;
}
