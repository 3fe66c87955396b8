import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pythonEnvironment } from '@svc/testing';
import { repository, type World } from './world.ts';

const program = `
import sys, time
from pyarrow import fs
host, key, secret, bucket = sys.argv[1:]
store = fs.S3FileSystem(access_key=key, secret_key=secret, scheme='http', endpoint_override=host, region='us-east-1')
def write(count, folder):
    times = []
    for n in range(count):
        began = time.perf_counter()
        with store.open_output_stream(f'{bucket}/main/{folder}/{n}') as out:
            out.write(b'x' * 1000)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)
write(20, 'warm')
for round in range(3):
    times = write(100, f'streams{round}')
    print(f'| {round + 1} | {sum(times) / 1000:.2f} | {times[50]:.1f} | {times[99]:.1f} |')
`;

/** A hundred small streams, one after the other, as PyArrow writes them. */
export async function measureStreams(world: World): Promise<void> {
  const { endpoint, credentials } = world.server;
  const python = await pythonEnvironment(['pyarrow==26.0.1']);
  const { accessKeyId, secretAccessKey } = credentials;
  const args = ['-c', program, endpoint.host, accessKeyId, secretAccessKey, repository];
  const { stdout } = await promisify(execFile)(python, args);
  console.log(
    `\n| 100 streams by PyArrow, round | all, s | median, ms | longest, ms |\n|---|---|---|---|\n${stdout.trim()}`,
  );
}
