import { readFileSync } from 'node:fs';

/** Names of a zone by its offset in seconds, as the system's own table has them. */
type ZoneTable = {
  readonly at: readonly number[];
  readonly types: readonly number[];
  readonly kinds: readonly ZoneKind[];
};

interface ZoneKind {
  readonly offset: number;
  readonly name: string;
}

const tables = new Map<string, ZoneTable | undefined>();

/** The abbreviation the system uses (`CET`, `MSK`); Intl knows most zones only as `GMT+3`. */
export function zoneName(date: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (timeZone === 'UTC') return 'UTC';
  if (!tables.has(timeZone)) tables.set(timeZone, readTable(timeZone));
  const table = tables.get(timeZone);
  const name = table === undefined ? undefined : nameIn(table, date);
  if (name !== undefined) return name;
  const parts = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' }).formatToParts(date);
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? 'UTC';
}

/** The latest kind with the date's offset that was in force before it. */
function nameIn(table: ZoneTable, date: Date): string | undefined {
  const offset = -date.getTimezoneOffset() * 60;
  const seconds = date.getTime() / 1000;
  for (let at = table.at.length - 1; at >= 0; at -= 1) {
    const kind = table.kinds[table.types[at] ?? 0];
    if ((table.at[at] ?? 0) <= seconds && kind?.offset === offset) return kind.name;
  }
  return table.kinds.find((kind) => kind.offset === offset)?.name;
}

function readTable(timeZone: string): ZoneTable | undefined {
  try {
    return parseTable(readFileSync(`/usr/share/zoneinfo/${timeZone}`));
  } catch {
    return undefined;
  }
}

/** Reads a TZif file: the second block with 64-bit times, or the first when it is the only one. */
export function parseTable(bytes: Buffer): ZoneTable | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'TZif') return undefined;
  const isLong = (bytes[4] ?? 0) >= 0x32;
  let start = 0;
  if (isLong) start = blockEnd(bytes, 0, 4);
  const counts = countsOf(bytes, start);
  const width = isLong ? 8 : 4;
  const times = start + 44;
  const at = Array.from({ length: counts.times }, (_, index) =>
    isLong ? Number(bytes.readBigInt64BE(times + index * 8)) : bytes.readInt32BE(times + index * 4),
  );
  const typesStart = times + counts.times * width;
  const types = [...bytes.subarray(typesStart, typesStart + counts.times)];
  const kindsStart = typesStart + counts.times;
  const namesStart = kindsStart + counts.kinds * 6;
  const kinds = Array.from({ length: counts.kinds }, (_, index) => {
    const from = namesStart + (bytes[kindsStart + index * 6 + 5] ?? 0);
    return {
      offset: bytes.readInt32BE(kindsStart + index * 6),
      name: bytes.toString('latin1', from, bytes.indexOf(0, from)),
    };
  });
  return { at, types, kinds };
}

function countsOf(bytes: Buffer, start: number): { times: number; kinds: number } {
  return { times: bytes.readUInt32BE(start + 32), kinds: bytes.readUInt32BE(start + 36) };
}

function blockEnd(bytes: Buffer, start: number, width: number): number {
  const field = (index: number): number => bytes.readUInt32BE(start + 20 + index * 4);
  const [utc, standard, leap, times, kinds, letters] = [
    field(0),
    field(1),
    field(2),
    field(3),
    field(4),
    field(5),
  ];
  return start + 44 + times * (width + 1) + kinds * 6 + letters + leap * (width + 4) + standard + utc;
}
