import { execFileSync } from 'node:child_process';
import type { BlockStoreConfig } from '../src/index.ts';

const mebibyte = 1024 * 1024;

export interface MemoryGrowth {
  readonly received: number;
  /** Most memory the process had beyond what it had before the transfer, in MiB. */
  readonly growth: number;
}

/**
 * Streams one object into a store and out again, in a process of its own. It collects garbage every 32 MiB: by itself
 * it would do that whenever it finds the time, so a busy machine would seem to hold more.
 */
export function measureMemoryGrowth(
  config: BlockStoreConfig,
  storageNamespace: string,
  options: { readonly mebibytes: number; readonly length: 'known' | 'unknown' },
): MemoryGrowth {
  const script = `
    import { Readable } from 'node:stream';
    import { openBlockStore } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
    const size = ${options.mebibytes * mebibyte};
    const adapter = await openBlockStore(${JSON.stringify(config)});
    const pointer = { storageNamespace: ${JSON.stringify(storageNamespace)}, identifier: 'large', identifierType: 'relative' };
    await adapter.put(pointer, Buffer.from('warm'));
    (await adapter.get(pointer)).dispose();
    let peak = 0;
    const measure = () => { peak = Math.max(peak, process.memoryUsage.rss()); };
    gc();
    measure();
    const before = peak;
    let sent = 0;
    // A fresh chunk each time, as a socket gives them.
    const stream = new Readable({ highWaterMark: 65536, read() {
      if (sent % ${4 * mebibyte} === 0) measure();
      if (sent % ${32 * mebibyte} === 0) gc();
      sent += 65536;
      this.push(sent > size ? null : Buffer.alloc(65536, sent % 251));
    } });
    await adapter.put(pointer, { stream, size: ${options.length === 'known' ? 'size' : '-1'} });
    const body = (await adapter.get(pointer)).stream();
    let received = 0;
    await new Promise((resolve, reject) => {
      body.on('data', (chunk) => {
        measure();
        if (Math.floor(received / ${32 * mebibyte}) < Math.floor((received + chunk.length) / ${32 * mebibyte})) gc();
        received += chunk.length;
      }).on('end', resolve).on('error', reject);
    });
    await adapter.delete(pointer);
    await adapter.close();
    console.log(JSON.stringify({ received, growth: (peak - before) / ${mebibyte} }));
  `;
  const output = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as MemoryGrowth;
}
