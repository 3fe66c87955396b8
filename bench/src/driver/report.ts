import { writeFileSync } from 'node:fs';

export interface Row {
  readonly scenario: string;
  readonly value: number;
  /** Rates are better when higher, times and memory when lower. */
  readonly unit: '/s' | 'MB/s' | 'ms' | 's' | 'MB' | '×';
  readonly p50?: number;
  readonly p99?: number;
  readonly max?: number;
  readonly errors?: number;
  readonly goal?: number;
  /** How many times as good as another server of this API, where the goal is made of that. */
  readonly times?: number;
}

/** What other goals are held against than those of the scenarios, and what a bare server answered when they were set. */
export interface Goals {
  readonly calibration: number;
  /** What another server reached, and how many times that is the goal. */
  readonly rows: ReadonlyMap<string, { readonly other: number; readonly times: number }>;
}

/** A row beside the goal, as it is and as it would be on the machine the goals were set on. */
export interface JudgedRow extends Row {
  /** The rate as a part of the bare server's. */
  readonly ratio?: number;
  /** What the bare server answered right before and after, in the mean. */
  readonly calibration: number;
  readonly goalRatio?: number;
  /** How many times the goal was reached: 1 and more is good. */
  readonly reached?: number;
  readonly reachedRelative?: number;
}

/** What a bare server answered where the goals were set, in requests per second. */
const calibrationOfGoals = 46_000;

/** Collects rows, prints them as they come and the whole table at the end. */
export class Report {
  readonly #rows: Row[] = [];
  readonly #calibrations: { readonly rowsBefore: number; readonly perSecond: number }[] = [];
  readonly #goals: Goals | undefined;

  constructor(goals?: Goals) {
    this.#goals = goals;
  }

  add(given: Row): void {
    const row = this.#goals === undefined ? given : withGoal(given, this.#goals);
    this.#rows.push(row);
    console.log(
      `${row.scenario.padEnd(44)} ${`${format(row.value)} ${row.unit}`.padStart(13)}${details(row)}`,
    );
  }

  /** What a bare server answers on this machine in this very second. */
  addCalibration(perSecond: number): void {
    this.#calibrations.push({ rowsBefore: this.#rows.length, perSecond });
  }

  /** Of the whole run. */
  get calibration(): number {
    return mean(this.#calibrations.map(({ perSecond }) => perSecond));
  }

  /** The machine changes its speed by the minute, so each row is held against what was measured next to it. */
  #calibrationAt(index: number): number {
    const before = this.#calibrations.findLast(({ rowsBefore }) => rowsBefore <= index);
    const after = this.#calibrations.find(({ rowsBefore }) => rowsBefore > index);
    return mean([before, after].flatMap((found) => (found === undefined ? [] : [found.perSecond])));
  }

  rows(): JudgedRow[] {
    return this.#rows.map((row, index) => judge(row, this.#calibrationAt(index), this.#goals?.calibration));
  }

  printTable(): void {
    const rates = this.#calibrations.map(({ perSecond }) => perSecond);
    const range = `${format(Math.min(...rates))} to ${format(Math.max(...rates))} /s`;
    console.log(`\nBeside the goals; ratios are to a bare server right before and after (${range}):`);
    const cells = this.rows().map((row) => [
      row.scenario,
      `${format(row.value)} ${row.unit}`,
      format(row.calibration),
      row.ratio?.toFixed(3) ?? '',
      row.goal === undefined ? '' : `${format(row.goal)} ${row.unit}`,
      row.goalRatio?.toFixed(3) ?? '',
      verdict(row.reached),
      verdict(row.reachedRelative),
      ...(this.#goals === undefined ? [] : [timesTheOther(row)]),
    ]);
    const columns = ['scenario', 'measured', 'bare /s', 'ratio', 'goal', 'ratio', 'absolute', 'relative'];
    printCells(this.#goals === undefined ? columns : [...columns, 'times the other'], cells);
  }

  writeJson(path: string): void {
    writeJson(path, { calibration: this.calibration, rows: this.rows() });
  }
}

export function writeJson(path: string, result: object): void {
  const where = { when: new Date().toISOString(), node: process.version };
  writeFileSync(path, `${JSON.stringify({ ...where, ...result }, null, 1)}\n`);
}

/** The first column to the left, the others to the right. */
export function printCells(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  for (const cells of lines) {
    const padded = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    console.log(padded.join('  ').trimEnd());
  }
}

export function format(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

export function isRate({ unit }: Row): boolean {
  return unit === '/s' || unit === 'MB/s';
}

/** The goals of the scenarios are for other stores, except those that are ratios already. */
function withGoal({ goal, ...row }: Row, goals: Goals): Row {
  const found = goals.rows.get(row.scenario);
  if (found === undefined) return { ...row, ...(row.unit === '×' && goal !== undefined && { goal }) };
  const { other, times } = found;
  return { ...row, goal: isRate(row) ? other * times : other / times, times };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function timesTheOther({ times, reachedRelative }: JudgedRow): string {
  return times === undefined || reachedRelative === undefined ? '' : (times * reachedRelative).toFixed(2);
}

/** Memory and ratios do not depend on how fast the machine is. */
export function judge(given: Row, calibration: number, goalsSetAt = calibrationOfGoals): JudgedRow {
  const row = { ...given, calibration };
  const { value, goal } = row;
  const ratio = isRate(row) ? value / calibration : undefined;
  if (goal === undefined) return { ...row, ...(ratio !== undefined && { ratio }) };
  const faster = calibration / goalsSetAt;
  if (ratio !== undefined) {
    const reached = value / goal;
    return {
      ...row,
      ratio,
      goalRatio: goal / goalsSetAt,
      reached,
      reachedRelative: reached / faster,
    };
  }
  if (row.unit === '×') return { ...row, reached: value / goal, reachedRelative: value / goal };
  // A difference of two times may be below zero.
  const reached = value <= 0 ? Number.POSITIVE_INFINITY : goal / value;
  return { ...row, reached, reachedRelative: row.unit === 'MB' ? reached : reached / faster };
}

function verdict(reached: number | undefined): string {
  if (reached === undefined) return '';
  if (reached === Number.POSITIVE_INFINITY) return 'reached';
  return `${reached >= 1 ? 'reached' : 'missed'} ${reached.toFixed(2)}`;
}

function details(row: Row): string {
  let text = '';
  for (const name of ['p50', 'p99', 'max'] as const) {
    if (row[name] !== undefined) text += `  ${name} ${format(row[name])} ms`;
  }
  if (row.goal !== undefined) text += `  (goal ${row.goal} ${row.unit})`;
  if (row.errors !== undefined && row.errors > 0) text += `  ERRORS ${row.errors}`;
  return text;
}
