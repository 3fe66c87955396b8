import { randomBytes } from 'node:crypto';
import type { UploadData } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import type { UploadTarget } from '../face/uploads.ts';
import {
  endingMark,
  joiningMark,
  readUpload,
  replaceUpload,
  unjoinedMark,
  type StoredUpload,
} from './upload-records.ts';

/** A completion says this often that it is alive; one that was silent for so long has died. */
const beatMs = 5000;
const silentMs = 30_000;
const firstPauseMs = 10;
const longestPauseMs = 250;
/** By then a completion that was answered is on record. */
const recordMs = 300;

/** What the record of an upload says of a completion that has begun. */
export interface Joining {
  /** Of the object the parts become. */
  readonly etag: string;
  /** When the completion last said that it goes on. */
  readonly beat: number;
}

/** Undefined when no completion has begun, or nothing is known of the one that has. */
export function joiningOf(data: UploadData): Joining | undefined {
  if (!data.completedEtag.startsWith(joiningMark)) return undefined;
  const [etag = '', beat = ''] = data.completedEtag.slice(joiningMark.length).split(':');
  return beat === '' ? undefined : { etag, beat: Number(beat) };
}

/** Each attempt has a mark of its own, so that it sees whether another came after it. */
export function newJoiningMark(context: EngineContext, etag: string): string {
  return `${joiningMark}${etag}:${context.clock()}:${randomBytes(9).toString('base64url')}`;
}

/** A completion has begun, and has not been silent for long. */
export function isJoining(context: EngineContext, data: UploadData): boolean {
  const joining = data.completedAt === undefined ? joiningOf(data) : undefined;
  return joining !== undefined && context.clock() - joining.beat <= silentMs;
}

/**
 * The record once no completion is at work on the upload: done, open again, or left by one that died. With `patienceMs`,
 * that of one still at work after that time.
 */
export async function settled(
  context: EngineContext,
  target: UploadTarget,
  patienceMs = Infinity,
): Promise<StoredUpload> {
  let waitedMs = 0;
  for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, longestPauseMs)) {
    const stored = await readUpload(context, target);
    if (stored.data.completedEtag === endingMark) throw notFound('upload');
    if (!isJoining(context, stored.data) || waitedMs >= patienceMs) return stored;
    await new Promise((resolve) => setTimeout(resolve, pause));
    waitedMs += pause;
  }
}

/** Like `readUpload`, but a completed upload is gone, also in the moment before its record says so. */
export async function readOpenUpload(context: EngineContext, target: UploadTarget): Promise<StoredUpload> {
  const stored = await settled(context, target, recordMs);
  if (stored.data.completedAt !== undefined) throw notFound('upload');
  return stored;
}

/** Says again and again, until it is stopped, that the completion with this mark is at work. */
export function keepJoining(context: EngineContext, target: UploadTarget, mark: string): JoiningBeat {
  const etag = mark.slice(joiningMark.length).split(':')[0] ?? '';
  let current = mark;
  let turn = Promise.resolve();
  const beat = async (): Promise<void> => {
    const stored = await readUpload(context, target);
    if (stored.data.completedEtag !== current) return;
    const next = newJoiningMark(context, etag);
    if (await replaceUpload(context, stored, { ...stored.data, completedEtag: next })) current = next;
  };
  const timer = setInterval(() => {
    turn = turn.then(beat).catch(() => undefined);
  }, beatMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await turn;
      return current;
    },
  };
}

export interface JoiningBeat {
  /** Resolves to the mark that is in the record unless somebody else changed it. */
  stop(): Promise<string>;
}

/** Makes the record say that the upload is being ended, so that no completion begins any more. */
export async function beginEnding(context: EngineContext, found: StoredUpload): Promise<StoredUpload> {
  let stored = found;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const { data } = stored;
    if (data.completedAt !== undefined) throw notFound('upload');
    if (data.completedEtag === endingMark) return stored;
    // Of others than these nothing is known: they may have made an object that is staged.
    const mark = data.completedEtag === unjoinedMark ? endingMark : data.completedEtag;
    if (mark !== endingMark || (await replaceUpload(context, stored, { ...data, completedEtag: mark })))
      return mark === endingMark ? readUpload(context, data) : stored;
    stored = await settled(context, data);
  }
  throw tooManyAttempts();
}
