import { afterAll } from 'vitest';
import { administrationTests } from './acceptance/administration.ts';
import { commitsTests } from './acceptance/commits.ts';
import { configurationTests } from './acceptance/configuration.ts';
import { objectsTests } from './acceptance/objects.ts';
import { outputTests } from './acceptance/output.ts';
import { Stage } from './acceptance/stage.ts';

const stage = await Stage.open();

afterAll(() => stage.server.stop());

objectsTests(stage);
outputTests(stage);
commitsTests(stage);
administrationTests(stage);
configurationTests(stage);
