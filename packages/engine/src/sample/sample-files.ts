import { deflateSync, crc32 } from 'node:zlib';
import { ByteWriter, parquetWrite } from 'hyparquet-writer';
import { sampleReadme } from './sample-readme.ts';

export interface SampleFile {
  readonly path: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** The files of a new repository with sample data: small, made here, the same every time. */
export function sampleFiles(repository: string, branch: string): SampleFile[] {
  const stations = weatherStations();
  return [
    {
      path: 'README.md',
      contentType: 'text/markdown',
      bytes: Buffer.from(sampleReadme(repository, branch)),
    },
    { path: 'data/stations.csv', contentType: 'text/csv', bytes: stationsCsv(stations) },
    { path: 'data/readings/2026-01.json', contentType: 'application/json', bytes: readingsJson(stations) },
    { path: 'images/temperature.png', contentType: 'image/png', bytes: temperatureImage() },
    {
      path: 'weather.parquet',
      contentType: 'application/vnd.apache.parquet',
      bytes: weatherParquet(stations),
    },
  ];
}

interface Station {
  readonly id: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly elevation: number;
}

function weatherStations(): Station[] {
  return [
    { id: 'N01', name: 'North Ridge', latitude: 61.2, longitude: 9.4, elevation: 1204 },
    { id: 'H02', name: 'Harbour', latitude: 53.9, longitude: 10.8, elevation: 3 },
    { id: 'V03', name: 'Valley Farm', latitude: 46.6, longitude: 11.3, elevation: 262 },
    { id: 'C04', name: 'Cape', latitude: 36.1, longitude: -5.4, elevation: 45 },
    { id: 'O05', name: 'Oasis', latitude: 24.9, longitude: 14.5, elevation: 438 },
    { id: 'E06', name: 'Equator Camp', latitude: -0.3, longitude: 36.1, elevation: 1859 },
  ];
}

/** A smooth invented temperature: the sample needs no foreign data. */
function temperature(station: Station, day: number): number {
  const season = Math.sin(((day - 100) / 365) * 2 * Math.PI) * (Math.abs(station.latitude) / 4);
  const value = 30 - Math.abs(station.latitude) * 0.4 - station.elevation * 0.0065 + season;
  return Math.round((value + Math.sin(day * 1.7) * 2) * 10) / 10;
}

function stationsCsv(stations: readonly Station[]): Buffer {
  const rows = stations.map((s) => `${s.id},${s.name},${s.latitude},${s.longitude},${s.elevation}`);
  return Buffer.from(`id,name,latitude,longitude,elevation_m\n${rows.join('\n')}\n`);
}

function readingsJson(stations: readonly Station[]): Buffer {
  const readings = stations.flatMap((station) =>
    Array.from({ length: 31 }, (_, day) => ({
      station: station.id,
      date: `2026-01-${String(day + 1).padStart(2, '0')}`,
      temperature_c: temperature(station, day),
    })),
  );
  return Buffer.from(`${JSON.stringify(readings, null, 1)}\n`);
}

function weatherParquet(stations: readonly Station[]): Buffer {
  const rows = stations.flatMap((station) => Array.from({ length: 365 }, (_, day) => ({ station, day })));
  const writer = new ByteWriter();
  void parquetWrite({
    writer,
    columnData: [
      { name: 'station', type: 'STRING', data: rows.map((row) => row.station.id), nullable: false },
      { name: 'day_of_year', type: 'INT32', data: rows.map((row) => row.day + 1), nullable: false },
      {
        name: 'temperature_c',
        type: 'DOUBLE',
        data: rows.map((row) => temperature(row.station, row.day)),
        nullable: false,
      },
    ],
  });
  return Buffer.from(writer.getBytes());
}

/** A 240 × 120 picture of the sample: one band per station, blue for cold, red for warm. */
function temperatureImage(): Buffer {
  const width = 240;
  const height = 120;
  const stations = weatherStations();
  const pixels = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) {
    const station = stations[Math.floor((y / height) * stations.length)];
    if (station === undefined) continue;
    for (let x = 0; x < width; x += 1) {
      const warmth = Math.min(1, Math.max(0, (temperature(station, (x / width) * 365) + 20) / 55));
      pixels.writeUIntBE(
        (Math.round(60 + 195 * warmth) << 16) |
          (Math.round(110 + 60 * warmth) << 8) |
          Math.round(230 - 190 * warmth),
        y * (width * 3 + 1) + 1 + x * 3,
        3,
      );
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
