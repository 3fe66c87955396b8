import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { crc32c } from '@svc/encoding';
import type { RangeMarks } from './mark-list.ts';

const version = 2;
const headerBytes = 12;
const idBytes = 32;
const sizeBytes = 8;
const markBytes = 8;
const crcBytes = 4;
const dayMs = 86_400_000;
/** What no run has asked for since is removed. */
const keptMs = 30 * dayMs;
/** More than this is no small difference, and read again as fast. */
const mostMarks = 1_000_000;

/** What a tree holds that another does not. */
export interface TreeDelta {
  /** Ranges that were passed over because others had shown them; the delta says nothing of these. */
  readonly passed: readonly string[];
  /** Bytes of the objects of each range that was not. */
  readonly sizes: ReadonlyMap<string, number>;
  readonly marks: Uint32Array;
}

/**
 * Marks of ranges and of differences between trees, kept between the runs of a repository. Both are named by content, so
 * they stay true. Everything here may be missing or damaged: then it is computed again.
 */
export class MarkCache {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  hasRange(id: string): boolean {
    return existsSync(this.#rangePath(id));
  }

  readRange(id: string): RangeMarks | undefined {
    const kept = readFile(this.#rangePath(id));
    const bytes = kept?.sizes.get(id);
    return kept === undefined || bytes === undefined ? undefined : { marks: kept.marks, bytes };
  }

  writeRange(id: string, { marks, bytes }: RangeMarks): void {
    writeFile(this.#rangePath(id), { passed: [], sizes: new Map([[id, bytes]]), marks });
  }

  /** Ranges that none of the kept trees has are not needed again soon. */
  dropRange(id: string): void {
    rmSync(this.#rangePath(id), { force: true });
  }

  readDelta(tree: string, shown: string): TreeDelta | undefined {
    const path = this.#deltaPath(tree, shown);
    const delta = readFile(path);
    if (delta !== undefined) renew(path);
    return delta;
  }

  writeDelta(tree: string, shown: string, delta: TreeDelta): void {
    if (delta.marks.length / 2 <= mostMarks) writeFile(this.#deltaPath(tree, shown), delta);
  }

  /**
   * Removes what is not needed any more: ranges of other trees, differences nobody asked for, repositories long gone, and
   * what was not used for longest of what is above the size that all repositories share.
   */
  prune(ranges: ReadonlySet<string>, now: number, mostBytes: number): void {
    for (const name of list(join(this.folder, 'range'))) {
      if (!ranges.has(name)) rmSync(join(this.folder, 'range', name), { force: true });
    }
    for (const shard of list(join(this.folder, 'delta'))) {
      const folder = join(this.folder, 'delta', shard);
      for (const name of list(folder)) removeOld(join(folder, name), now);
    }
    const siblings = dirname(this.folder);
    mkdirSync(this.folder, { recursive: true });
    utimesSync(this.folder, now / 1000, now / 1000);
    for (const name of list(siblings)) removeOld(join(siblings, name), now);
    removeLeastUsed(siblings, mostBytes);
  }

  #rangePath(id: string): string {
    return join(this.folder, 'range', id);
  }

  #deltaPath(tree: string, shown: string): string {
    return join(this.folder, 'delta', tree.slice(0, 2), `${tree}-${shown}`);
  }
}

/** The name is part of the checksum: a file under another's name says nothing. */
function checksum(path: string, bytes: Uint8Array): number {
  return crc32c(bytes, crc32c(Buffer.from(path.slice(dirname(path).length + 1))));
}

function writeFile(path: string, { passed, sizes, marks }: TreeDelta): void {
  const sizesAt = headerBytes + passed.length * idBytes;
  const marksAt = sizesAt + sizes.size * (idBytes + sizeBytes);
  const bytes = Buffer.allocUnsafe(marksAt + marks.byteLength + crcBytes);
  bytes.writeUInt32LE(version, 0);
  bytes.writeUInt32LE(passed.length, 4);
  bytes.writeUInt32LE(sizes.size, 8);
  for (const [index, id] of passed.entries()) bytes.write(id, headerBytes + index * idBytes, 'hex');
  let at = sizesAt;
  for (const [id, size] of sizes) {
    bytes.write(id, at, 'hex');
    at = bytes.writeDoubleLE(size, at + idBytes);
  }
  bytes.set(new Uint8Array(marks.buffer, marks.byteOffset, marks.byteLength), marksAt);
  const end = bytes.length - crcBytes;
  bytes.writeUInt32LE(checksum(path, bytes.subarray(0, end)), end);
  const written = `${path}.${process.pid}-${threadId}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(written, bytes);
    renameSync(written, path);
  } catch {
    rmSync(written, { force: true });
  }
}

function readFile(path: string): (TreeDelta & { readonly marks: Uint32Array<ArrayBuffer> }) | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  const end = bytes.length - crcBytes;
  if (end < headerBytes || bytes.readUInt32LE(0) !== version) return undefined;
  if (bytes.readUInt32LE(end) !== checksum(path, bytes.subarray(0, end))) return undefined;
  const count = bytes.readUInt32LE(4);
  const sizesAt = headerBytes + count * idBytes;
  const marksAt = sizesAt + bytes.readUInt32LE(8) * (idBytes + sizeBytes);
  const marks = new Uint32Array((end - marksAt) / (markBytes / 2));
  new Uint8Array(marks.buffer).set(bytes.subarray(marksAt, end));
  const idAt = (at: number): string => bytes.toString('hex', at, at + idBytes);
  const passed = Array.from({ length: count }, (_, index) => idAt(headerBytes + index * idBytes));
  const sizes = new Map<string, number>();
  for (let at = sizesAt; at < marksAt; at += idBytes + sizeBytes) {
    sizes.set(idAt(at), bytes.readDoubleLE(at + idBytes));
  }
  return { passed, sizes, marks };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function renew(path: string): void {
  const now = Date.now();
  if (ageOf(path, now) > dayMs) utimesSync(path, now / 1000, now / 1000);
}

function removeOld(path: string, now: number): void {
  if (ageOf(path, now) > keptMs) rmSync(path, { recursive: true, force: true });
}

function removeLeastUsed(folder: string, mostBytes: number): void {
  const files: { readonly path: string; readonly size: number; readonly usedAt: number }[] = [];
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const about = entry.isFile() ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (about === undefined) continue;
    files.push({ path, size: about.size, usedAt: about.mtimeMs });
    bytes += about.size;
  }
  if (bytes <= mostBytes) return;
  files.sort((left, right) => left.usedAt - right.usedAt);
  for (const { path, size } of files) {
    if (bytes <= mostBytes) return;
    rmSync(path, { force: true });
    bytes -= size;
  }
}

function ageOf(path: string, now: number): number {
  const about = statSync(path, { throwIfNoEntry: false });
  return about === undefined ? 0 : now - about.mtimeMs;
}
