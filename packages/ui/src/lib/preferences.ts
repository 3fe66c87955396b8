const prefix = 'svc:ui:';
const listeners = new Set<() => void>();

/** Local storage that never throws: a browser may forbid it. */
export function readPreference<Value>(name: string, fallback: Value): Value {
  try {
    const text = localStorage.getItem(prefix + name);
    return text === null ? fallback : (JSON.parse(text) as Value);
  } catch {
    return fallback;
  }
}

export function writePreference(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // The choice then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

/** Called on every change, also on those made in another tab. */
export function onPreference(listener: () => void): () => void {
  listeners.add(listener);
  globalThis.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    globalThis.removeEventListener('storage', listener);
  };
}

export function recentRefs(repository: string): string[] {
  return readPreference<string[]>(`recent:${repository}`, []);
}

export function rememberRef(repository: string, ref: string): void {
  const others = recentRefs(repository).filter((other) => other !== ref);
  writePreference(`recent:${repository}`, [ref, ...others].slice(0, 10));
}

export function forgetRefs(repository: string): void {
  writePreference(`recent:${repository}`, undefined);
}

const visited = 'recent-repositories';

export function recentRepositories(): string[] {
  return readPreference<string[]>(visited, []);
}

export function rememberRepository(repository: string): void {
  const now = recentRepositories();
  if (now[0] === repository) return;
  writePreference(visited, [repository, ...now.filter((other) => other !== repository)].slice(0, 6));
}

export function forgetRepository(repository: string): void {
  writePreference(
    visited,
    recentRepositories().filter((other) => other !== repository),
  );
}
