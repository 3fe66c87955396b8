import {
  BlockError,
  bytesBody,
  smallObjectSize,
  type BlockAdapter,
  type ObjectBody,
  type ObjectPointer,
} from '@svc/block';
import { fromBlockError } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { ObjectEntry } from '../face/objects.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { pointerOfEntry } from './object-entry.ts';

/** Inclusive; lies inside the entry's size. */
export interface DataRange {
  readonly start: number;
  readonly end: number;
}

/** Worth more than one request. */
const largeSize = 8 * 1024 * 1024;

interface Opening {
  readonly context: EngineContext;
  readonly store: BlockAdapter;
  readonly pointer: ObjectPointer;
  readonly entry: ObjectEntry;
}

/**
 * Opens exactly the bytes an entry promises. An entry may lie about its size: clients tell it, and data that others
 * keep changes. Data that is too long is cut; data that is too short is refused before anything of it is sent.
 */
export function openData(
  context: EngineContext,
  scope: RepositoryScope,
  entry: ObjectEntry,
  range: DataRange | undefined,
): ObjectBody | Promise<ObjectBody> {
  const store = adapterOf(context, scope);
  const pointer = pointerOfEntry(scope, entry);
  if (range !== undefined) return openRange({ context, store, pointer, entry }, range);
  if (entry.size > smallObjectSize) return openWhole({ context, store, pointer, entry });
  const kept = context.smallObjects.find(store, entry);
  if (kept !== undefined) return kept;
  let small: ObjectBody | undefined;
  try {
    small = store.getAtOnce?.(pointer);
  } catch (error) {
    throw fromBlockError(error);
  }
  if (small === undefined) return openWhole({ context, store, pointer, entry });
  if (small.size !== entry.size) return fitted({ context, store, pointer, entry }, small);
  context.smallObjects.read(store, entry, small);
  return small;
}

async function openWhole(opening: Opening): Promise<ObjectBody> {
  const { size } = opening.entry;
  if (size >= largeSize && opening.store.prefersRanges?.() === true) {
    return openRange(opening, { start: 0, end: size - 1 });
  }
  let body: ObjectBody;
  try {
    body = await opening.store.get(opening.pointer);
  } catch (error) {
    throw fromBlockError(error);
  }
  const { context, store, entry } = opening;
  if (body.size !== entry.size) return fitted(opening, body);
  context.smallObjects.read(store, entry, body);
  return body;
}

/** The first bytes of a body that is longer than the entry says. */
function fitted(opening: Opening, body: ObjectBody): ObjectBody | Promise<ObjectBody> {
  const { context, entry } = opening;
  if (body.size < entry.size) {
    body.dispose();
    throw tooShort(opening, body.size);
  }
  context.logger.warn(
    { path: entry.path, address: entry.physicalAddress, stored: body.size, entry: entry.size },
    'the data of an object is longer than its entry says: only the first bytes are sent',
  );
  if (body.bytes !== undefined) return bytesBody(body.bytes.subarray(0, entry.size));
  body.dispose();
  if (entry.size === 0) return bytesBody(Buffer.alloc(0));
  return openRange(opening, { start: 0, end: entry.size - 1 });
}

async function openRange(opening: Opening, { start, end }: DataRange): Promise<ObjectBody> {
  let body: ObjectBody;
  try {
    body = await opening.store.getRange(opening.pointer, start, end);
  } catch (error) {
    if (error instanceof BlockError && error.kind === 'bad_index') throw tooShort(opening, undefined, error);
    throw fromBlockError(error);
  }
  if (body.size === end - start + 1) return body;
  body.dispose();
  throw tooShort(opening, start + body.size);
}

/** Part of what the entry promises is not there. */
function tooShort({ context, entry }: Opening, stored: number | undefined, cause?: Error): EngineError {
  context.logger.warn(
    { path: entry.path, address: entry.physicalAddress, stored, entry: entry.size },
    'the data of an object is shorter than its entry says: it is not sent',
  );
  return new EngineError('data_gone', `No data: less is stored than the ${entry.size} bytes of the object`, {
    cause,
    subject: 'object',
  });
}
