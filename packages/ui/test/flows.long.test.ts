import { afterAll, describe } from 'vitest';
import { actionFlows } from './flows/actions.ts';
import { activityFlows } from './flows/activity.ts';
import { rareAdministrationFlows } from './flows/administration.ts';
import { bucketFlows } from './flows/buckets.ts';
import { rareEntryFlows } from './flows/entries.ts';
import { rareHabitFlows } from './flows/habits.ts';
import { rareObjectFlows } from './flows/objects.ts';
import { screenFlows } from './flows/screens.ts';
import { rareSessionFlows } from './flows/session.ts';
import { snippetFlows } from './flows/snippets.ts';
import { timeFlows } from './flows/time.ts';
import { rareViewerFlows } from './flows/viewer.ts';
import { external, openStage } from './open-stage.ts';

const stage = await openStage();

afterAll(() => stage?.close());

describe.skipIf(stage === undefined).concurrent('the rarely touched parts of the web UI', () => {
  if (stage === undefined) return;
  screenFlows(stage);
  rareSessionFlows(stage);
  rareObjectFlows(stage, external);
  rareEntryFlows(stage);
  rareViewerFlows(stage);
  timeFlows(stage);
  bucketFlows(stage);
  activityFlows(stage);
  actionFlows(stage);
  rareAdministrationFlows(stage);
  snippetFlows(stage);
  rareHabitFlows(stage);
});
