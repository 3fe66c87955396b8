import { connect } from 'node:net';

export interface WireAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

export interface Conversation {
  /** Answers that came whole, in order, each as long as its Content-Length says. */
  readonly answers: WireAnswer[];
  /** What came after them. */
  readonly rest: Buffer;
}

/**
 * Sends requests in one piece over one connection, waits until the server closes it, and reads the answers as strictly
 * as a client would. The last request should ask for the connection to be closed.
 */
export async function converse(port: number, requests: readonly string[]): Promise<Conversation> {
  const pieces: Buffer[] = [];
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.write(requests.join(''));
  });
  return readAnswers(
    Buffer.concat(pieces),
    requests.map((text) => text.startsWith('HEAD ')),
  );
}

function readAnswers(bytes: Buffer, bodiless: readonly boolean[]): Conversation {
  const answers: WireAnswer[] = [];
  let at = 0;
  for (const isHead of bodiless) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const head = bytes.toString('latin1', at, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    const hasBody = !isHead && status !== 204 && status !== 304;
    const length = hasBody ? Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]) : 0;
    if (Number.isNaN(status) || Number.isNaN(length) || end + 4 + length > bytes.length) break;
    answers.push({ status, head, body: bytes.subarray(end + 4, end + 4 + length) });
    at = end + 4 + length;
  }
  return { answers, rest: bytes.subarray(at) };
}
