/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
export function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './tree-worker.ts' : './tree-worker.js';
  return new URL(name, import.meta.url);
}
