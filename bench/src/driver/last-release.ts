import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, isRate, printCells, type Row } from './report.ts';

const file = join(import.meta.dirname, '..', '..', 'last-release.json');
/** Less is noise on a shared machine. */
const noticed = 0.9;

/** What the last release reached, and what a bare server answered in those minutes. */
export interface Measured {
  readonly version: string;
  readonly objects: number;
  readonly calibration: number;
  /** With what the bare server answered beside the row, where that is known. */
  readonly rows: readonly (Pick<Row, 'scenario' | 'value' | 'unit'> & { readonly calibration?: number })[];
}

export interface Slower {
  readonly scenario: string;
  readonly last: Row;
  readonly now: Row;
  /** How fast it is beside the last release, both beside a bare server: 0.8 is a fifth slower. */
  readonly speed: number;
}

/** What became slower, the worst first. Rows that only one of the two has say nothing. */
export function slowerThan(before: Measured, now: Measured): Slower[] {
  const known = new Map(before.rows.map((row) => [row.scenario, row]));
  return now.rows
    .flatMap((row) => {
      const last = known.get(row.scenario);
      if (last === undefined || last.unit !== row.unit) return [];
      // A difference of two times may be below zero: less than nothing cannot be divided.
      if (!isRate(row) && (last.value <= 0 || row.value <= 0)) return [];
      const speed =
        speedOf(row, row.calibration ?? now.calibration) /
        speedOf(last, last.calibration ?? before.calibration);
      return speed < noticed ? [{ scenario: row.scenario, last, now: row, speed }] : [];
    })
    .toSorted((left, right) => left.speed - right.speed);
}

/** Memory does not depend on how fast the machine is. */
function speedOf(row: Row, calibration: number): number {
  if (row.unit === 'MB') return 1 / row.value;
  return isRate(row) ? row.value / calibration : 1 / (row.value * calibration);
}

export function printSlower(now: Measured): void {
  const before = JSON.parse(readFileSync(file, 'utf8')) as Measured;
  if (before.objects !== now.objects) {
    console.log(`\nNot compared with ${before.version}, which was measured with ${before.objects} objects.`);
    return;
  }
  const slower = slowerThan(before, now);
  if (slower.length === 0) {
    console.log(`\nBeside a bare server nothing is more than a tenth slower than ${before.version}.`);
    return;
  }
  console.log(`\nMore than a tenth slower than ${before.version}, both beside a bare server:`);
  printCells(
    ['scenario', before.version, 'now', 'speed'],
    slower.map(({ scenario, last, now: row, speed }) => [
      scenario,
      `${format(last.value)} ${last.unit}`,
      `${format(row.value)} ${row.unit}`,
      speed.toFixed(2),
    ]),
  );
}

/** What the next release is compared with. */
export function keepAsRelease(measured: Measured): void {
  const rows = measured.rows.map(({ scenario, value, unit, calibration }) => ({
    scenario,
    value,
    unit,
    calibration,
  }));
  writeFileSync(file, `${JSON.stringify({ ...measured, rows }, null, 2)}\n`);
}
