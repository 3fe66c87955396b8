// How long the slowest requests take: after a start, beside a large commit and a large import, in uploads of parts.
//   node bench/src/tails-bench.ts [--stores local|postgres] [--changes 1000000] [--rest-ms 0] [--dist another build]
//     [scenario …]
// `--rest-ms` is how long the servers of `cold` rest before the first request, as behind a load balancer.
// Scenarios: cold, commit, multipart, streams; all of them without a name. Needs `npm run build`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCold } from './tails/cold.ts';
import { measureCommit } from './tails/commit.ts';
import { measureMultipart } from './tails/multipart.ts';
import { measureStreams } from './tails/streams.ts';
import { World } from './tails/world.ts';

const { values, positionals } = parseArgs({
  options: {
    stores: { type: 'string', default: 'local' },
    changes: { type: 'string', default: '1000000' },
    'rest-ms': { type: 'string', default: '0' },
    dist: { type: 'string', default: join(import.meta.dirname, '..', '..', 'dist') },
  },
  allowPositionals: true,
});
const scenarios: Readonly<Record<string, (world: World) => Promise<void>>> = {
  cold: (world) => measureCold(world, Number(values['rest-ms'])),
  commit: (world) => measureCommit(world, Number(values.changes)),
  multipart: measureMultipart,
  streams: measureStreams,
};

for (const name of positionals.length === 0 ? Object.keys(scenarios) : positionals) {
  const measure = scenarios[name];
  if (measure === undefined)
    throw new Error(`${name} is no scenario: there are ${Object.keys(scenarios).join(', ')}`);
  const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-tails-'));
  try {
    const world = await World.open(folder, resolve(values.dist), values.stores === 'postgres');
    try {
      await measure(world);
    } finally {
      await world.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
