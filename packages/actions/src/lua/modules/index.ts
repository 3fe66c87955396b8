import { catalogExportSources } from './catalogexport.ts';

/** The source of a module that is written in Lua, or undefined when there is none of that name. */
export function moduleSource(name: string, exportPrefix: string): string | undefined {
  const part = /^(?:svc|lakefs)\/catalogexport\/(\w+)$/.exec(name)?.[1] ?? '';
  if (!Object.hasOwn(catalogExportSources, part)) return undefined;
  return `local EXPORT_PREFIX = ${JSON.stringify(exportPrefix)}\n${catalogExportSources[part] ?? ''}`;
}
