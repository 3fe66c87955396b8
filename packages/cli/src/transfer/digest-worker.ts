import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { Md5Lanes, md5Lanes, type Md5Message } from '@svc/encoding';

/** A file that has been written up to here. */
export interface DigestRequest {
  readonly job: number;
  readonly path: string;
  readonly upTo: number;
  /**
   * Of a file that comes piece by piece: the digest is wanted, or, for `drop`, not any more. `complete` files come at once
   * and can wait for others; the `last` one ends the wait.
   */
  readonly next: 'more' | 'finish' | 'drop' | 'complete' | 'last';
}

export type DigestAnswer = { readonly job: number } & ({ readonly md5: string } | { readonly error: Error });

interface Job {
  readonly file: number;
  readonly hash: Hash;
  at: number;
}

/** So long a complete file waits for others. */
const gatherMs = 50;

const port = parentPort;
if (port !== null) {
  const jobs = new Map<number, Job>();
  const failures = new Map<number, Error>();
  const buffer = Buffer.allocUnsafeSlow(256 * 1024);
  const lanes = new Md5Lanes();
  const complete: DigestRequest[] = [];
  /** How many of them wait no longer. */
  let due = 0;
  let running = 0;
  let isDigesting = false;
  let timer: NodeJS.Timeout | undefined;

  const answer = (job: number, md5: string | undefined, error: unknown): void =>
    port.postMessage(
      (md5 === undefined ? { job, error: error as Error } : { job, md5 }) satisfies DigestAnswer,
    );

  const readInto = (target: Buffer, file: number, path: string, position: number): void => {
    for (let at = 0; at < target.length;) {
      const count = readSync(file, target, at, target.length - at, position + at);
      if (count === 0) throw new Error(`${path} is shorter than it was`);
      at += count;
    }
  };

  const read = ({ job: number, path, upTo }: DigestRequest): Job => {
    const job = jobs.get(number) ?? { file: openSync(path, 'r'), hash: createHash('md5'), at: 0 };
    jobs.set(number, job);
    while (job.at < upTo) {
      const piece = buffer.subarray(0, Math.min(buffer.length, upTo - job.at));
      readInto(piece, job.file, path, job.at);
      job.hash.update(piece);
      job.at += piece.length;
    }
    return job;
  };

  const end = (number: number): void => {
    const job = jobs.get(number);
    jobs.delete(number);
    if (job !== undefined) closeSync(job.file);
  };

  const goOn = (request: DigestRequest): void => {
    const { job, next } = request;
    try {
      if (next !== 'drop' && !failures.has(job)) read(request);
    } catch (error) {
      failures.set(job, error as Error);
    }
    if (next === 'more') return;
    if (next === 'finish') {
      const error = failures.get(job);
      answer(job, error === undefined ? jobs.get(job)?.hash.digest('hex') : undefined, error);
    }
    end(job);
    failures.delete(job);
  };

  const messageOf = ({ job, path, upTo }: DigestRequest): Md5Message => {
    let file: number | undefined;
    running += 1;
    return {
      size: upTo,
      read: (target, position) => readInto(target, (file ??= openSync(path, 'r')), path, position),
      done: (md5, error) => {
        running -= 1;
        if (file !== undefined) closeSync(file);
        answer(job, md5, error);
      },
    };
  };

  const nextMessage = (): Md5Message | undefined => {
    if (complete.length === 0) {
      for (let came = receiveMessageOnPort(port); came !== undefined; came = receiveMessageOnPort(port))
        take(came.message as DigestRequest);
    }
    // One takes as long as eight: beside others it may begin at once, but few do not begin by themselves.
    if (running === 0 && due === 0 && complete.length < md5Lanes) return undefined;
    const request = complete.shift();
    due = Math.max(0, due - 1);
    return request === undefined ? undefined : messageOf(request);
  };

  const digestComplete = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const only = complete.length === 1 ? complete.shift() : undefined;
    if (only !== undefined) {
      // For one alone the platform is faster.
      goOn({ ...only, next: 'finish' });
      return;
    }
    due = complete.length;
    isDigesting = true;
    lanes.digest(nextMessage);
    isDigesting = false;
    if (complete.length > 0) timer = setTimeout(digestComplete, gatherMs);
  };

  const take = (request: DigestRequest): void => {
    const { next } = request;
    if (next !== 'complete' && next !== 'last') {
      goOn(request);
      return;
    }
    complete.push(request);
    if (next === 'last') due = complete.length;
    if (isDigesting) return;
    if (next === 'last' || complete.length >= md5Lanes) digestComplete();
    else timer ??= setTimeout(digestComplete, gatherMs);
  };

  port.on('message', take);
}
