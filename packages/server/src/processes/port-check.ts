import { createServer } from 'node:net';
import type { ServerAddress } from './messages.ts';

/**
 * Workers share a port, which also lets them join one that another server of the same user shares: this first
 * takes the port for itself, and so notices.
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
