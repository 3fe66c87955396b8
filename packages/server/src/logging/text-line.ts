import { styleText } from 'node:util';

const plain = /^[\w./:@+,~^*-]+$/;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return plain.test(text) ? text : JSON.stringify(text);
}

/** `time=… level=… msg=…` and the other fields as key=value. */
export function textLine(record: Readonly<Record<string, unknown>>): string {
  const { time, level, msg, ...rest } = record;
  let line = `time=${shown(time)} level=${shown(level)} msg=${JSON.stringify(msg ?? '')}`;
  for (const [name, value] of Object.entries(rest))
    if (value !== undefined) line += ` ${name}=${shown(value)}`;
  return `${line}\n`;
}

const colours = {
  trace: 'gray',
  debug: 'gray',
  info: 'cyan',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
} as const;

/** Colours the level of text lines, for terminals. */
export function colourLines(lines: string): string {
  return lines.replaceAll(/ level=(\w+) msg=/g, (whole, level: string) => {
    const colour = colours[level as keyof typeof colours];
    return colour === undefined
      ? whole
      : ` level=${styleText(colour, level, { validateStream: false })} msg=`;
  });
}

/** Colour is for terminals whose user has not asked for none. */
export function wantsColour(isTerminal: boolean, noColour: string | undefined): boolean {
  return isTerminal && (noColour === undefined || noColour === '' || noColour === '0');
}
