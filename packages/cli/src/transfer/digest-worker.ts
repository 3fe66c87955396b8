import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** A file that has been written up to here. */
export interface DigestRequest {
  readonly job: number;
  readonly path: string;
  readonly upTo: number;
  /** The digest is wanted; or, for `drop`, not any more. */
  readonly next: 'more' | 'finish' | 'drop';
}

export type DigestAnswer = { readonly job: number } & ({ readonly md5: string } | { readonly error: Error });

interface Job {
  readonly file: number;
  readonly hash: Hash;
  at: number;
}

const port = parentPort;
if (port !== null) {
  const jobs = new Map<number, Job>();
  const failures = new Map<number, Error>();
  const buffer = Buffer.allocUnsafeSlow(256 * 1024);

  const read = ({ job: number, path, upTo }: DigestRequest): Job => {
    const job = jobs.get(number) ?? { file: openSync(path, 'r'), hash: createHash('md5'), at: 0 };
    jobs.set(number, job);
    while (job.at < upTo) {
      const count = readSync(job.file, buffer, 0, Math.min(buffer.length, upTo - job.at), job.at);
      if (count === 0) throw new Error(`${path} is shorter than it was`);
      job.hash.update(buffer.subarray(0, count));
      job.at += count;
    }
    return job;
  };

  const end = (number: number): void => {
    const job = jobs.get(number);
    jobs.delete(number);
    if (job !== undefined) closeSync(job.file);
  };

  port.on('message', (request: DigestRequest) => {
    const { job, next } = request;
    try {
      if (next !== 'drop' && !failures.has(job)) read(request);
    } catch (error) {
      failures.set(job, error as Error);
    }
    if (next === 'more') return;
    if (next === 'finish') {
      const error = failures.get(job);
      const md5 = jobs.get(job)?.hash.digest('hex') ?? '';
      port.postMessage((error === undefined ? { job, md5 } : { job, error }) satisfies DigestAnswer);
    }
    end(job);
    failures.delete(job);
  });
}
