import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { awsClients, lakefsPython, orSkipReason, startSvcProcess, type SvcProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { docsFolder } from '../integrations/documented-page.ts';
import { runPage } from '../integrations/run-page.ts';

const [aws, lakefs] = await Promise.all([
  orSkipReason('the AWS clients', awsClients),
  orSkipReason('the lakeFS clients', lakefsPython),
]);
const client = pathToFileURL(join(import.meta.dirname, '../../../client/src/index.ts')).href;

describe.skipIf(aws === undefined || lakefs === undefined)('the guides', () => {
  let server: SvcProcess;
  beforeAll(async () => {
    server = await startSvcProcess();
  });
  afterAll(() => server.stop());

  it.each(['quick-start.md', 'sdk.md', ...globSync('guides/*.md', { cwd: docsFolder }).sort()])(
    'tell what works: %s',
    async (page) => {
      await runPage({
        page,
        server,
        runners: {
          boto3: (code) => [aws ?? '', '-c', code],
          lakefs: (code) => [lakefs ?? '', '-c', code],
          client: (code) => [
            process.execPath,
            '--input-type=module-typescript',
            '--eval',
            code.replace("'@svc/client'", `'${client}'`),
          ],
        },
        programs: { aws: [join(dirname(aws ?? ''), 'aws')] },
      });
    },
    120_000,
  );
});
