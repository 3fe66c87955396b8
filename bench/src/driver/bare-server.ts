import { spawn, type ChildProcess } from 'node:child_process';
import { runLoad } from './http-load.ts';

const program = `
const body = 'x'.repeat(230);
require('node:http').createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(body);
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** A server that only answers: compare ratios to what it reaches in the same seconds, not absolute rates. */
export class BareServer {
  readonly #child: ChildProcess;
  readonly #endpoint: URL;

  private constructor(child: ChildProcess, endpoint: URL) {
    this.#child = child;
    this.#endpoint = endpoint;
  }

  static async start(): Promise<BareServer> {
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const port = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', () => reject(new Error('the bare server did not start')));
      child.stdout.once('data', (data: Buffer) => resolve(String(data).trim()));
    });
    const server = new BareServer(child, new URL(`http://127.0.0.1:${port}`));
    // Its code is compiled by then.
    await server.rate();
    return server;
  }

  /** Requests per second in this very second. */
  async rate(): Promise<number> {
    const endpoint = this.#endpoint;
    const request = `GET / HTTP/1.1\r\nhost: ${endpoint.host}\r\n\r\n`;
    const { perSecond } = await runLoad({ endpoint, connections: 64, seconds: 1, next: () => request });
    return perSecond;
  }

  stop(): void {
    this.#child.kill();
  }
}
