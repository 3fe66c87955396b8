import { orSkipReason, tempDir } from '@svc/testing';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { accessibilityFlows } from './flows/accessibility.ts';
import { actionFlows } from './flows/actions.ts';
import { activityFlows } from './flows/activity.ts';
import { administrationFlows } from './flows/administration.ts';
import { bucketFlows } from './flows/buckets.ts';
import { changeFlows } from './flows/changes.ts';
import { collectionFlows } from './flows/collection.ts';
import { entryFlows } from './flows/entries.ts';
import { firstPageFlows } from './flows/first-page.ts';
import { glanceFlows } from './flows/glance.ts';
import { habitFlows } from './flows/habits.ts';
import { historyFlows } from './flows/history.ts';
import { objectFlows } from './flows/objects.ts';
import { pullFlows } from './flows/pulls.ts';
import { sessionFlows } from './flows/session.ts';
import { settingsFlows } from './flows/settings.ts';
import { snippetFlows } from './flows/snippets.ts';
import { tableFlows } from './flows/tables.ts';
import { timeFlows } from './flows/time.ts';
import { viewerFlows } from './flows/viewer.ts';
import { Stage } from './stage.ts';

const external = tempDir();
mkdirSync(join(external, 'in'));
writeFileSync(join(external, 'in', 'one.txt'), 'one');
writeFileSync(join(external, 'in', 'two.txt'), 'two');

const stage = await orSkipReason('a browser', () =>
  Stage.open({
    SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
    SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: external,
    SVC_EVENTS_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  }),
);

afterAll(() => stage?.close());

describe.skipIf(stage === undefined).concurrent('the web UI in a real browser', () => {
  if (stage === undefined) return;
  sessionFlows(stage);
  firstPageFlows(stage);
  objectFlows(stage, external);
  glanceFlows(stage);
  entryFlows(stage);
  viewerFlows(stage);
  changeFlows(stage);
  historyFlows(stage);
  tableFlows(stage);
  timeFlows(stage);
  bucketFlows(stage);
  activityFlows(stage);
  pullFlows(stage);
  actionFlows(stage);
  settingsFlows(stage);
  collectionFlows(stage);
  administrationFlows(stage);
  snippetFlows(stage);
  habitFlows(stage);
  accessibilityFlows(stage);
});
