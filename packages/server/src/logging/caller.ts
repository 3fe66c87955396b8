interface Caller {
  file?: string;
  func?: string;
}

const frame = /^\s*at (?:(?:async )?(\S+(?: \[as \S+\])?) \()?(?:file:\/\/)?(.+?):(\d+):\d+\)?$/m;

/** Where a line was logged from: the frame that called the method `below`. Fields that say it themselves win. */
export function callerOf(fields: object, below: unknown): Caller {
  if ('file' in fields) return {};
  const holder: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  // One frame is the wrapper around the logger, the next one is the caller.
  Error.stackTraceLimit = 2;
  Error.captureStackTrace(holder, below as () => void);
  Error.stackTraceLimit = limit;
  const line = holder.stack?.split('\n')[2];
  const match = line === undefined ? null : frame.exec(line);
  if (match === null) return {};
  const [, func, path = '', number = ''] = match;
  return { file: `${shortPath(path)}:${number}`, ...(func === undefined ? {} : { func }) };
}

function shortPath(path: string): string {
  const at = Math.max(path.lastIndexOf('/packages/'), path.lastIndexOf('/dist/'));
  return at < 0 ? path : path.slice(at + 1);
}
