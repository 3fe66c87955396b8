import { BareServer } from '../driver/bare-server.ts';

/** The best of some rounds of a server of its own. */
export async function calibrate(): Promise<number> {
  const server = await BareServer.start();
  try {
    const rates: number[] = [];
    for (let round = 0; round < 3; round += 1) rates.push(await server.rate());
    return Math.max(...rates);
  } finally {
    server.stop();
  }
}
