/** A branch or tag at a time: `main@{2026-11-01T10:00:00Z}`, `main@2h`. */
export interface TimeRef {
  readonly base: string;
  /** `~1` and the like behind the time. */
  readonly steps: string;
  /** Means another commit tomorrow: so long ago, or so many moves. */
  readonly moving: boolean;
}

const timeRef = /^([^@~^$]+)@(?:\{([^{}]+)\}|(-?[\w:.+-]+))((?:[~^]\d*)*)$/;
const fixed = /^(?:commit +|c)?\d{4}-?\d\d-?\d\d/i;

/** Undefined when the ref names no time. Whether the time is right is for the server to say. */
export function parseTimeRef(ref: string): TimeRef | undefined {
  const found = timeRef.exec(ref);
  if (found === null) return undefined;
  const [, base = '', braced, compact = '', steps = ''] = found;
  return { base, steps, moving: !fixed.test(braced ?? compact) };
}

/** A branch or tag at an instant. */
export function refAt(base: string, instant: string, steps = ''): string {
  return `${base}@{${instant}}${steps}`;
}

/** The same ref without braces, which shells and S3 tools take for patterns; whole seconds also without colons. */
export function compactRef(ref: string): string {
  const found = /^([^@]+)@\{(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\}(.*)$/.exec(ref);
  if (found === null) return ref;
  const [, base = '', instant = '', steps = ''] = found;
  return `${base}@${instant.includes('.') ? instant : instant.replaceAll(/[-:]/g, '')}${steps}`;
}

/** The instant of a field of local time, such as `2026-11-01T10:00`; undefined while it is incomplete. */
export function instantOf(local: string): string | undefined {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace('.000Z', 'Z');
}

/** What a field of local time shows for an instant, to the second. */
export function localOf(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
