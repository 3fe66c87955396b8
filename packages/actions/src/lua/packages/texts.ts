import { RE2JS } from 're2js';
import { bytesOf, host, packageOf, textOf, type Arguments, type LuaValue } from '../lua-value.ts';

/** Bytes are characters to the engine, except that `.` and classes see whole code points. */
function compile(pattern: string): RE2JS {
  return RE2JS.compile(pattern);
}

function groupsOf(matcher: ReturnType<RE2JS['matcher']>): LuaValue[] {
  return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => bytesOf(matcher.group(group) ?? ''));
}

function allMatches(pattern: RE2JS, args: Arguments): LuaValue[][] {
  const limit = args.number(2);
  const matcher = pattern.matcher(args.text(1));
  const found: LuaValue[][] = [];
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  for (let count = 0; count < most && matcher.find(); count += 1) found.push(groupsOf(matcher));
  return found;
}

function compiled(text: string): LuaValue {
  const pattern = compile(text);
  const first = (value: string): LuaValue[] | undefined => {
    const matcher = pattern.matcher(value);
    return matcher.find() ? groupsOf(matcher) : undefined;
  };
  return packageOf({
    find: host((args) => first(args.text(1))?.[0] ?? ''),
    find_all: host((args) => allMatches(pattern, args).map(([whole]) => whole)),
    find_submatch: host((args) => first(args.text(1)) ?? []),
    find_all_submatch: host((args) => allMatches(pattern, args)),
  });
}

function replace(text: string, old: string, by: string, count: number): string {
  if (count < 0) return text.replaceAll(old, () => by);
  let result = '';
  let at = 0;
  for (let done = 0; done < count; done += 1) {
    const found = text.indexOf(old, at);
    if (found === -1) break;
    result += text.slice(at, found) + by;
    at = found + old.length;
    if (old === '') {
      result += text.charAt(at);
      at += 1;
    }
  }
  return result + text.slice(at);
}

function split(text: string, separator: string): LuaValue[] {
  return separator === '' ? Array.from(textOf(text), bytesOf) : text.split(separator);
}

export const textPackages: Readonly<Record<string, () => LuaValue>> = {
  regexp: () =>
    packageOf({
      match: host((args) => compile(args.text(1)).matcher(args.text(2)).find()),
      quote_meta: host((args) => bytesOf(RE2JS.quote(args.text(1)))),
      compile: host((args) => compiled(args.text(1))),
    }),
  strings: () =>
    packageOf({
      split: host((args) => split(args.bytes(1), args.bytes(2))),
      trim: host((args) => bytesOf(args.text(1).trim())),
      replace: host((args) => replace(args.bytes(1), args.bytes(2), args.bytes(3), args.number(4))),
      has_prefix: host((args) => args.bytes(1).startsWith(args.bytes(2))),
      has_suffix: host((args) => args.bytes(1).endsWith(args.bytes(2))),
      contains: host((args) => args.bytes(1).includes(args.bytes(2))),
    }),
};
