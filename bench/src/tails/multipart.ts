import { Agent, request } from 'node:http';
import { Latencies } from '../driver/latencies.ts';
import { runOpenLoad } from '../driver/open-load.ts';
import { presignTarget } from '../driver/presign.ts';
import { repository, row, tableHead, type World } from './world.ts';

const clients = 4;
const warmUpSeconds = 4;
const seconds = 15;
const others = 400;
const small = Buffer.alloc(100_000, 'p');
const large = Buffer.alloc(5 * 1024 * 1024, 'p');

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly text: string;
}

/** Uploads in parts by S3 while others read and write small objects. */
export async function measureMultipart(world: World): Promise<void> {
  const { endpoint, credentials } = world.server;
  const { api, requests } = world;
  const content = 'x'.repeat(4096);
  await api.upload(repository, 'main', 'small', Buffer.from(content));
  const put = (sequence: number): string =>
    `PUT ${presignTarget(endpoint, credentials, 'PUT', `/${repository}/main/put/${sequence % 1000}`)} HTTP/1.1\r\n` +
    `host: ${endpoint.host}\r\ncontent-length: ${content.length}\r\n\r\n${content}`;
  const kinds = [() => requests.get('main', 'small'), put];
  const run = async (forSeconds: number): Promise<void> => {
    const [mixed, [get, putting]] = await Promise.all([
      upload(world, forSeconds),
      runOpenLoad({ endpoint, connections: 16, perSecond: others, seconds: forSeconds }, kinds),
    ]);
    if (forSeconds === warmUpSeconds) return;
    tableHead(`multipart, ${clients} clients, beside ${others} small GET and PUT a second`);
    for (const [step, result] of Object.entries(mixed)) row(step, result);
    if (get !== undefined) row('GET of 4 KiB', get);
    if (putting !== undefined) row('PUT of 4 KiB, S3', putting);
  };
  await run(warmUpSeconds);
  await run(seconds);
}

async function upload(
  world: World,
  forSeconds: number,
): Promise<Record<string, { latencies: Latencies; errors: number }>> {
  const { endpoint, credentials } = world.server;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const tallies = new Map<string, { latencies: Latencies; errors: number }>();
  const endsAt = performance.now() + forSeconds * 1000;
  const step = async (
    name: string,
    method: string,
    path: string,
    parameters: Record<string, string>,
    body: Buffer,
  ): Promise<Answer> => {
    const target = presignTarget(endpoint, credentials, method, path, parameters);
    const began = performance.now();
    const answer = await call(agent, endpoint, method, target, body);
    const tally = tallies.get(name) ?? { latencies: new Latencies(), errors: 0 };
    tallies.set(name, tally);
    tally.latencies.record(performance.now() - began);
    if (answer.status >= 400) tally.errors += 1;
    return answer;
  };
  const client = async (index: number): Promise<void> => {
    for (let made = 0; performance.now() < endsAt; made += 1) {
      const path = `/${repository}/main/parts/${index}/${made}`;
      const created = await step('create', 'POST', path, { uploads: '' }, Buffer.alloc(0));
      const uploadId = /<UploadId>([^<]+)/.exec(created.text)?.[1] ?? '';
      // Every second object has one part, as a stream of some kilobytes makes it.
      const parts = made % 2 === 0 ? [small] : [large, small];
      let listed = '';
      for (const [at, part] of parts.entries()) {
        const name = part === large ? 'part of 5 MiB' : 'part of 100 KB';
        const { etag } = await step(name, 'PUT', path, { partNumber: String(at + 1), uploadId }, part);
        listed += `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
      }
      const document = Buffer.from(`<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`);
      await step(`complete of ${parts.length} part(s)`, 'POST', path, { uploadId }, document);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  agent.destroy();
  return Object.fromEntries(tallies);
}

function call(agent: Agent, endpoint: URL, method: string, path: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length };
    const { hostname: host, port } = endpoint;
    const sent = request({ agent, host, port, method, path, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += String(chunk)));
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, etag: answer.headers.etag ?? '', text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
