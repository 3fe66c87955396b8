import { createServer } from 'node:net';
import type { ServerAddress } from './messages.ts';

/**
 * Workers share a port. Without this check they would silently join another server of the same user on it: here the
 * port is taken alone first, which fails when somebody has it.
 */
export async function ensurePortIsFree({ host, port }: ServerAddress): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen({ port, exclusive: true, ...(host === '' ? {} : { host }) }, resolve);
  });
  await new Promise<void>((resolve) => probe.close(() => resolve()));
}
