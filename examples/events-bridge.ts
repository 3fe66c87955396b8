// Copies svc's events into a message broker: reads the stream, publishes each event, remembers how far it came.
//
//   SVC_ENDPOINT=http://localhost:8000 SVC_ACCESS_KEY_ID=… SVC_SECRET_ACCESS_KEY=… \
//   PUBLISH_URL=http://localhost:8082/topics/svc CURSOR_FILE=./svc-events.cursor node events-bridge.ts
//
// It publishes by HTTP, as the bridges of Kafka, Pulsar or NATS take it; put your broker's client into `publish`.
// An event may be published twice after a crash: its id is the key by which the broker drops repetitions.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const { SVC_ENDPOINT, SVC_ACCESS_KEY_ID, SVC_SECRET_ACCESS_KEY, PUBLISH_URL, CURSOR_FILE } = process.env;
if (SVC_ENDPOINT === undefined || PUBLISH_URL === undefined || CURSOR_FILE === undefined) {
  throw new Error('set SVC_ENDPOINT, PUBLISH_URL and CURSOR_FILE');
}
const authorization = `Basic ${btoa(`${SVC_ACCESS_KEY_ID}:${SVC_SECRET_ACCESS_KEY}`)}`;

async function publish(event: string): Promise<void> {
  const { id } = JSON.parse(event) as { id: string };
  const answer = await fetch(PUBLISH_URL ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', 'idempotency-key': id },
    body: event,
  });
  if (!answer.ok) throw new Error(`the broker answered ${answer.status}`);
}

/** A crash must not leave half a number. */
async function remember(file: string, cursor: string): Promise<void> {
  await writeFile(`${file}.new`, cursor);
  await rename(`${file}.new`, file);
}

async function follow(file: string): Promise<void> {
  // Without a cursor: from the oldest event that is kept.
  const cursor = await readFile(file, 'utf8').catch(() => '0');
  const stream = await fetch(new URL('/api/v1/events', SVC_ENDPOINT), {
    headers: { authorization, accept: 'text/event-stream', 'last-event-id': cursor },
  });
  if (stream.body === null || !stream.ok) throw new Error(`svc answered ${stream.status}`);
  let text = '';
  let id = cursor;
  for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) id = line.slice(4);
      if (line.startsWith('data: ')) await publish(line.slice(6));
      if (line === '') await remember(file, id);
    }
  }
}

for (;;) {
  try {
    await follow(CURSOR_FILE);
  } catch (error) {
    console.error(String(error));
  }
  await pause(1000);
}
