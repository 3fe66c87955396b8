import { ServerHost } from './server-host.ts';
import { hostVariable } from './test-server.ts';

/** Runs once around a whole test run; the variable is inherited by every test process. */
export async function setup(): Promise<() => Promise<void>> {
  const host = new ServerHost();
  process.env[hostVariable] = await host.listen();
  return () => host.close();
}
