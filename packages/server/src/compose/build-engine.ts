import type { Engine } from '@svc/engine';
import type { FoundationOptions } from './foundation.ts';

export async function buildEngine(_options: FoundationOptions, _parts: object): Promise<Engine> {
  const missing = { list: async () => ({ items: [], hasMore: false, nextOffset: '' }) };
  return Promise.resolve({
    repositories: missing,
    usage: { record() {}, flush: async () => {}, reports: async () => [] },
    startJobs() {},
    close: async () => {},
  } as unknown as Engine);
}
