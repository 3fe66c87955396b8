import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { sampleFiles } from './sample-files.ts';

describe('sampleFiles', () => {
  const files = new Map(sampleFiles('my-repo', 'trunk').map((file) => [file.path, file]));
  const bytes = (path: string): Buffer => files.get(path)!.bytes;

  it('holds a README, a Parquet file, data/ and images/', () => {
    expect([...files.keys()].sort()).toEqual([
      'README.md',
      'data/readings/2026-01.json',
      'data/stations.csv',
      'images/temperature.png',
      'weather.parquet',
    ]);
  });

  it('names the repository and its branch in the README', () => {
    const readme = bytes('README.md').toString();
    expect(readme).toContain('svc://my-repo/trunk');
    expect(readme).not.toContain('${');
  });

  it('has a Parquet file that reads back', async () => {
    const content = bytes('weather.parquet');
    const rows = await parquetReadObjects({ file: Uint8Array.from(content).buffer });
    expect(rows).toHaveLength(6 * 365);
    expect(rows[0]).toMatchObject({ station: 'N01', day_of_year: 1 });
  });

  it('has a picture and JSON that parse', () => {
    expect(bytes('images/temperature.png').subarray(1, 4).toString()).toBe('PNG');
    expect(JSON.parse(bytes('data/readings/2026-01.json').toString())).toHaveLength(6 * 31);
  });

  it('is the same every time', () => {
    expect(sampleFiles('my-repo', 'trunk')).toEqual([...files.values()]);
  });
});
