import { join } from 'node:path';
import { BlockStores, openBlockStores } from '@svc/block';
import { openStore } from '@svc/kv';
import { openHouse, type House } from './house.ts';

interface LocalHouseOptions {
  /** Called before every write to a store. */
  readonly onWrite?: () => void;
}

const writing = /^(?:put|set|setIf|setMany|delete|deleteIf|deleteMany|change)$/;

/** An engine with hooks over the local stores of a folder. */
export async function openLocalHouse(folder: string, options: LocalHouseOptions = {}): Promise<House> {
  const { onWrite = () => undefined } = options;
  const watched = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (writing.test(String(name))) onWrite();
          return Reflect.apply(value, target, args);
        };
      },
    });
  const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true });
  const stores = await openBlockStores([{ type: 'local', path: join(folder, 'objects') }]);
  const blocks = new BlockStores([watched(stores.get(''))]);
  // Whoever is killed leaves it behind, and whoever removes the folder removes it, too.
  return openHouse({ kv: watched(kv), blocks, cacheDir: join(folder, 'cache') });
}

/** As if the leases of a process that died had run out. */
export async function endLeases(folder: string): Promise<void> {
  const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true });
  const partition = Buffer.from('leases');
  for await (const page of kv.scan(partition, { prefix: Buffer.from('hooks/') }))
    await kv.deleteMany(
      partition,
      page.map(({ key }) => key),
    );
  await kv.close();
}
