import { catalogExportSources } from './catalogexport.ts';
import { deltaAndUnitySources } from './delta-and-unity.ts';

const sources = { ...catalogExportSources, ...deltaAndUnitySources };

/** The source of a module that is written in Lua, or undefined when there is none of that name. */
export function moduleSource(name: string, exportPrefix: string): string | undefined {
  const part = /^(?:svc|lakefs)\/catalogexport\/(\w+)$/.exec(name)?.[1] ?? '';
  if (!Object.hasOwn(sources, part)) return undefined;
  return `local EXPORT_PREFIX = ${JSON.stringify(exportPrefix)}\n${sources[part] ?? ''}`;
}
