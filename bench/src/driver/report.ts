import { writeFileSync } from 'node:fs';

export interface Row {
  readonly scenario: string;
  readonly value: number;
  readonly unit: '/s' | 'ms' | 's' | 'MB/s';
  readonly p99?: number;
  readonly errors?: number;
  /** What we want to reach; rates at least, times at most. */
  readonly goal?: number;
}

/** Collects rows, prints them as they come and writes them as JSON and as a chart. */
export class Report {
  readonly rows: Row[] = [];

  add(row: Row): void {
    this.rows.push(row);
    const p99 = row.p99 === undefined ? '' : `  p99 ${row.p99.toFixed(1)} ms`;
    const errors = row.errors === undefined || row.errors === 0 ? '' : `  ERRORS ${row.errors}`;
    const goal = row.goal === undefined ? '' : `  (goal ${row.goal} ${row.unit})`;
    console.log(
      `${row.scenario.padEnd(44)} ${format(row.value).padStart(10)} ${row.unit}${p99}${goal}${errors}`,
    );
  }

  writeJson(path: string): void {
    writeFileSync(
      path,
      `${JSON.stringify({ when: new Date().toISOString(), node: process.version, rows: this.rows }, null, 1)}\n`,
    );
  }

  /** One bar per row: how far towards its goal (the line) it is. */
  writeChart(path: string): void {
    const rows = this.rows.filter((row) => row.goal !== undefined);
    const height = rows.length * 24 + 40;
    const goalAt = 420;
    const bars = rows.map((row, index) => {
      const goal = row.goal ?? 1;
      const reached = row.unit === 'ms' || row.unit === 's' ? goal / row.value : row.value / goal;
      const width = Math.max(2, Math.min(reached, 2.5) * 100);
      const y = index * 24 + 28;
      const colour = reached >= 1 ? '#2a7f4f' : '#c2632b';
      return `<text x="314" y="${y + 13}" text-anchor="end">${escape(row.scenario)}</text><rect x="320" y="${y}" width="${width.toFixed(0)}" height="17" rx="2" fill="${colour}"/><text x="${(326 + width).toFixed(0)}" y="${y + 13}">${format(row.value)} ${row.unit}</text>`;
    });
    writeFileSync(
      path,
      `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="${height}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/><text x="${goalAt}" y="18" text-anchor="middle">goal</text><line x1="${goalAt}" x2="${goalAt}" y1="22" y2="${height}" stroke="#888" stroke-dasharray="3"/>${bars.join('')}</svg>\n`,
    );
  }
}

function format(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
