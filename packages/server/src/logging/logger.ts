import { pino } from 'pino';
import type { LogLevel } from '../config/schema/server.ts';
import { callerOf } from './caller.ts';
import { textLine } from './text-line.ts';

/** Structured logger, fields first. Every package takes the part of it that it needs. */
export interface Logger {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
  isEnabled(level: LogLevel): boolean;
}

export interface RootLogger extends Logger {
  setLevel(level: LogLevel): void;
}

/** Takes finished lines; several processes hand theirs to one owner. */
export interface LogSink {
  write(line: string): void;
}

const pinoLevel = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
  NONE: 'silent',
} as const;

interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly sink: LogSink;
}

export function createLogger(options: LoggerOptions): RootLogger {
  const { sink } = options;
  const destination =
    options.format === 'json'
      ? sink
      : { write: (line: string) => sink.write(textLine(JSON.parse(line) as Record<string, unknown>)) };
  const root = pino(
    {
      level: pinoLevel[options.level],
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: describeErrors },
      mixin: (fields, level, logger) => callerOf(fields, logger[pino.levels.labels[level] as 'info']),
      mixinMergeStrategy: (fields, caller) => ({ ...caller, ...fields }),
    },
    destination,
  );
  const children = new Set<WeakRef<pino.Logger>>();
  const logger = wrap(root, (child) => children.add(new WeakRef(child)));
  return {
    ...logger,
    setLevel(level) {
      root.level = pinoLevel[level];
      for (const reference of children) {
        const child = reference.deref();
        if (child === undefined) children.delete(reference);
        else child.level = root.level;
      }
    },
  };
}

function wrap(logger: pino.Logger, remember: (child: pino.Logger) => void): Logger {
  return {
    trace: (fields, message) => logger.trace(fields, message),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child(fields) {
      const child = logger.child(fields);
      remember(child);
      return wrap(child, remember);
    },
    isEnabled: (level) => level !== 'NONE' && logger.isLevelEnabled(pinoLevel[level]),
  };
}

/** Errors become their message and those of their causes; only unexpected ones carry a stack. */
function describeErrors(fields: Record<string, unknown>): Record<string, unknown> {
  const error = fields['error'] ?? fields['err'];
  if (!(error instanceof Error)) return fields;
  const { err: _, ...rest } = fields;
  const expected = 'kind' in error || 'code' in error;
  return { ...rest, error: errorText(error), ...(expected ? {} : { stack: error.stack }) };
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Errors of our own families already say everything a reader can use.
  const cause = error.cause instanceof Error && !('kind' in error) ? `: ${errorText(error.cause)}` : '';
  return error.message + cause;
}
