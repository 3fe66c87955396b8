import { commitMessage, gcStateMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import type { CollectorSettings } from '../src/face/gc-runs.ts';

/** What each rule is there for shows when it is broken. */
export const sabotages = [
  'writers do not look whether something is collected',
  'staged values are not read',
  'pins are not read',
  'writers do not wait for the batch',
  'tables are not looked for',
  'what was written again is deleted',
  'moves are not read',
  'aliases and views are not read',
  'what other repositories use is not read',
  'rescued commits are not read',
  'the young are not spared',
  'requests are sent too late',
  'parents of commits are not spared',
] as const;
export type Sabotage = (typeof sabotages)[number];

export function sabotagedWriter(kv: KvStore, sabotage: Sabotage | undefined): KvStore {
  if (sabotage === undefined) return kv;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const call = member as (...args: unknown[]) => unknown;
      const isState = (args: unknown[]): boolean => Buffer.from(args[1] as Buffer).toString() === 'gc/state';
      if (sabotage === 'writers do not look whether something is collected') {
        if (name === 'valueAtOnce')
          return (...args: unknown[]) => (isState(args) ? undefined : call.apply(target, args));
        if (name === 'get')
          return async (...args: unknown[]) => (isState(args) ? undefined : call.apply(target, args));
        if (name === 'change') return (...args: unknown[]) => call.apply(target, args.slice(0, 3));
      }
      if (sabotage === 'writers do not wait for the batch') {
        const calm = (value: Buffer): Buffer =>
          gcStateMessage.encode({ ...gcStateMessage.decode(value), inFlight: false });
        if (name === 'valueAtOnce')
          return (...args: unknown[]) => {
            const value = call.apply(target, args) as Buffer | undefined;
            return isState(args) && value !== undefined ? calm(value) : value;
          };
        if (name === 'get')
          return async (...args: unknown[]) => {
            const found = (await call.apply(target, args)) as { value: Buffer } | undefined;
            return isState(args) && found !== undefined ? { ...found, value: calm(found.value) } : found;
          };
      }
      return call.bind(target);
    },
  });
}

const hiddenPrefixes: Partial<Record<Sabotage, readonly string[]>> = {
  'pins are not read': ['gc/pins/'],
  'moves are not read': ['moves/'],
  'aliases and views are not read': ['aliases/', 'views/'],
  'what other repositories use is not read': ['foreign/'],
  'rescued commits are not read': ['gc/keeps/'],
};

export function collectorGc(sabotage: Sabotage | undefined): Partial<CollectorSettings> {
  return sabotage === 'the young are not spared' ? { graceMs: -3_600_000 } : {};
}

function orphan<Record extends { readonly value: Buffer }>(record: Record): Record {
  return { ...record, value: commitMessage.encode({ ...commitMessage.decode(record.value), parents: [] }) };
}

export function sabotagedCollector(kv: KvStore, sabotage: Sabotage | undefined): KvStore {
  const hidden = sabotage === undefined ? undefined : hiddenPrefixes[sabotage];
  const isBlind = sabotage === 'staged values are not read';
  const isHeartless = sabotage === 'parents of commits are not spared';
  if (hidden === undefined && !isBlind && !isHeartless) return kv;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...args: unknown[]) => unknown;
      if (name !== 'scan') return call;
      return async function* (partition: Buffer, options: { prefix?: Buffer } = {}) {
        if (hidden?.some((prefix) => options.prefix?.toString().startsWith(prefix)) === true) return;
        if (isBlind && options.prefix === undefined && Buffer.from(partition).includes(':')) return;
        const isHistory = isHeartless && options.prefix?.toString() === 'commits/';
        for await (const page of target.scan(partition, options)) yield isHistory ? page.map(orphan) : page;
      };
    },
  });
}
