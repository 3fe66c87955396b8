import { orSkipReason, tempDir } from '@svc/testing';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stage } from './stage.ts';

/** A folder with two files that may be imported. */
export const external = tempDir();
mkdirSync(join(external, 'in'));
writeFileSync(join(external, 'in', 'one.txt'), 'one');
writeFileSync(join(external, 'in', 'two.txt'), 'two');

/** The stage of all flows; undefined where there is no browser. */
export async function openStage(): Promise<Stage | undefined> {
  return orSkipReason('a browser', () =>
    Stage.open({
      SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
      SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: external,
      SVC_EVENTS_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
    }),
  );
}
