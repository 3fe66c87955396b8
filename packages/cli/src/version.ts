import { release } from 'node:os';

declare const __SVC_VERSION__: string | undefined;

/** Set when the tool is built; `dev` from the sources. */
export const version: string = typeof __SVC_VERSION__ === 'string' ? __SVC_VERSION__ : 'dev';

export function userAgent(): string {
  return `svcctl/${version}/${process.platform}/${release()}/${process.arch}`;
}
