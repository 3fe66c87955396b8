// Begins to fetch and never ends: tests kill it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchOnce } from '../src/fetch/fetch-once.ts';

await fetchOnce('tool', 'a tool', async (folder) => {
  writeFileSync(join(folder, 'half'), '');
  console.log('begun');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
