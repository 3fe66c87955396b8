import { spawn } from 'node:child_process';
import { runLoad } from '../driver/http-load.ts';

const program = `
const body = 'x'.repeat(230);
require('node:http').createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(body);
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** What a bare server answers on this machine in this very minute: compare ratios to it, not absolute rates. */
export async function calibrate(): Promise<number> {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await new Promise<string>((resolve) => {
      child.stdout.once('data', (data: Buffer) => resolve(String(data).trim()));
    });
    const endpoint = new URL(`http://127.0.0.1:${port}`);
    const request = `GET / HTTP/1.1\r\nhost: ${endpoint.host}\r\n\r\n`;
    const rates: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const result = await runLoad({ endpoint, connections: 64, seconds: 1.5, next: () => request });
      rates.push(result.perSecond);
    }
    return Math.max(...rates);
  } finally {
    child.kill();
  }
}
