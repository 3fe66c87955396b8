import { useSyncExternalStore } from 'react';
import { onPreference, readPreference, writePreference } from './preferences.ts';
import type { UploadWork } from './upload-work.ts';

/** An import that this browser started; it goes on without the page. */
export interface ImportWork {
  readonly repository: string;
  readonly branch: string;
  readonly id: string;
}

const imports = 'imports';
const shownEveryMs = 100;

let uploads: readonly UploadWork[] = [];
let version = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

function changed(): void {
  // Progress comes in small steps: a few times a second is enough to see it.
  timer ??= setTimeout(() => {
    timer = undefined;
    version += 1;
    for (const listener of listeners) listener();
  }, shownEveryMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  const off = onPreference(changed);
  return () => {
    listeners.delete(listener);
    off();
  };
}

function warn(event: BeforeUnloadEvent): void {
  if (uploads.some(({ state }) => state !== 'ended')) event.preventDefault();
}

/** Begins an upload that the tray shows until it is done. */
export async function startUpload(
  place: UploadWork['place'],
  files: readonly { readonly file: File; readonly path: string }[],
): Promise<void> {
  const { UploadWork: Work } = await import('./upload-work.ts');
  const work = new Work(place, files, changed);
  uploads = [...uploads, work];
  globalThis.addEventListener('beforeunload', warn);
  await work.start();
}

export function forgetUpload(work: UploadWork): void {
  if (work.state === 'running') work.pause();
  uploads = uploads.filter((other) => other !== work);
  if (uploads.length === 0) globalThis.removeEventListener('beforeunload', warn);
  changed();
}

export function rememberImport(work: ImportWork): void {
  writePreference(imports, [...readPreference<ImportWork[]>(imports, []), work]);
}

export function forgetImport({ id }: ImportWork): void {
  const others = readPreference<ImportWork[]>(imports, []).filter((other) => other.id !== id);
  writePreference(imports, others.length === 0 ? undefined : others);
}

/** What is going on in the background of this browser. */
export function useWorks(): { uploads: readonly UploadWork[]; imports: readonly ImportWork[] } {
  useSyncExternalStore(subscribe, () => version);
  return { uploads, imports: readPreference<ImportWork[]>(imports, []) };
}
