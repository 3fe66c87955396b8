import { afterAll, describe } from 'vitest';
import { accessibilityFlows } from './flows/accessibility.ts';
import { administrationFlows } from './flows/administration.ts';
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
import { tableFlows } from './flows/tables.ts';
import { viewerFlows } from './flows/viewer.ts';
import { openStage } from './open-stage.ts';

const stage = await openStage();

afterAll(() => stage?.close());

describe.skipIf(stage === undefined).concurrent('the web UI in a real browser', () => {
  if (stage === undefined) return;
  accessibilityFlows(stage);
  sessionFlows(stage);
  firstPageFlows(stage);
  objectFlows(stage);
  glanceFlows(stage);
  entryFlows(stage);
  viewerFlows(stage);
  changeFlows(stage);
  historyFlows(stage);
  tableFlows(stage);
  pullFlows(stage);
  settingsFlows(stage);
  collectionFlows(stage);
  administrationFlows(stage);
  habitFlows(stage);
});
