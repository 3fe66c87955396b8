import { KvError, type KvErrorKind } from '../../errors.ts';

/** SQLSTATE classes and codes, longest match first. */
const kinds: readonly (readonly [RegExp, KvErrorKind, string])[] = [
  [/^53100$/, 'no_space', 'the disk of the database is full; free some space there'],
  [/^53/, 'slow_down', 'the database has no resources left (raise max_connections or lower the pool)'],
  [/^57014$/, 'slow_down', 'the statement took longer than statement_timeout'],
  [/^40/, 'slow_down', 'the statement collided with others'],
  [/^(08|57P|25006$|XX|58)/, 'unavailable', 'the database cannot serve right now'],
  [/^(28|3D)/, 'connect_failed', 'check user, password and database in database.postgres.connection_string'],
  [/^(42501)/, 'driver_configuration', 'grant the user the right to use the table'],
  [/^(42|3F|22)/, 'driver_configuration', 'the table is missing or has another shape'],
];

const poolExhausted = 'timeout exceeded when trying to connect';

/**
 * Sorts what pg throws. Everything without an SQLSTATE is a broken or unanswered connection: whether a write took
 * effect is then unknown, so it must never look like an answer.
 */
export function databaseError(cause: unknown): KvError {
  if (cause instanceof KvError) return cause;
  const code = (cause as { code?: string } | undefined)?.code ?? '';
  const text = cause instanceof Error ? describe(cause) : String(cause);
  if (text === poolExhausted) {
    return new KvError(
      'slow_down',
      'postgres: every connection of the pool is busy; raise database.postgres.max_open_connections',
      { cause },
    );
  }
  for (const [pattern, kind, advice] of kinds) {
    if (/^[0-9A-Z]{5}$/.test(code) && pattern.test(code)) {
      return new KvError(kind, `postgres: ${text} (${code}): ${advice}`, { cause });
    }
  }
  return new KvError('unavailable', `postgres: ${text}`, { cause });
}

/** The server gave the statement up because others were in its way; nothing of it happened. */
export function isCollision(error: unknown): boolean {
  const cause = error instanceof KvError ? error.cause : error;
  return (cause as { code?: string } | undefined)?.code?.startsWith('40') === true;
}

/** Connecting to several addresses fails with an error that only lists its parts. */
function describe(error: Error): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors
      .map((each: unknown) => (each instanceof Error ? each.message : String(each)))
      .join('; ');
  }
  return error.message;
}
