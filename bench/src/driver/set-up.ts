import type { BenchServer } from './start-server.ts';

/** Makes the administrator. Only an embedded store is set up by the settings. */
export async function setUp({
  endpoint,
  credentials,
}: Pick<BenchServer, 'endpoint' | 'credentials'>): Promise<void> {
  const key = { access_key_id: credentials.accessKeyId, secret_access_key: credentials.secretAccessKey };
  const { ok } = await fetch(new URL('/api/v1/setup_lakefs', endpoint), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'bench', key }),
  });
  if (!ok) throw new Error('the server could not be set up');
}
