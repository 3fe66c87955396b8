import { bytesOf, host, packageOf, type LuaValue } from '../lua-value.ts';
import { formatTime, parseTime } from './time-layout.ts';

const isoLayout = '2006-01-02T15:04:05-07:00';
const nanosPerMs = 1e6;

/** Waits without using the processor; the end of the thread ends it. */
function sleep(nanos: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(cell, 0, 0, Math.max(0, nanos / nanosPerMs));
}

function addTo(nanos: number, change: ReadonlyMap<string, LuaValue>): number {
  const seconds = { hour: 3600, minute: 60, second: 1 };
  return Object.entries(seconds).reduce((sum, [unit, size]) => {
    const count = change.get(unit);
    return sum + (typeof count === 'number' ? count * size * 1e9 : 0);
  }, nanos);
}

export const timePackage = (onSleep: () => void): LuaValue =>
  packageOf({
    now: host(() => Date.now() * nanosPerMs),
    format: host((args) => bytesOf(formatTime(args.number(1), args.text(2), args.text(3)))),
    format_iso: host((args) => bytesOf(formatTime(args.number(1), isoLayout, args.optionalText(2)))),
    parse: host((args) => parseTime(args.text(1), args.text(2))),
    parse_iso: host((args) => parseIso(args.text(1))),
    add: host((args) => addTo(args.number(1), args.table(2))),
    since: host((args) => Date.now() * nanosPerMs - args.number(1)),
    sleep: host((args) => {
      onSleep();
      sleep(args.number(1));
      return undefined;
    }),
  });

function parseIso(text: string): number {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.exec(text);
  const [, moment = '', fraction = '', zone = ''] = found ?? [];
  const ms = found === null ? Number.NaN : Date.parse(`${moment}${zone}`);
  if (Number.isNaN(ms))
    throw new TypeError(`cannot parse ${JSON.stringify(text)} as ${JSON.stringify(isoLayout)}`);
  return ms * nanosPerMs + (fraction === '' ? 0 : Math.round(Number(fraction) * 1e9));
}
