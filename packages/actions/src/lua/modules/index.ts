/** Modules that are written in Lua, by the name scripts require; none of them is there yet. */
export function moduleSource(_name: string, _exportPrefix: string): string | undefined {
  return undefined;
}
