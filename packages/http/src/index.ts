export { drained } from './drained.ts';
export { HeldMemory } from './held-memory.ts';
export type { BodyMemory } from './held-memory.ts';
export { countStreamed } from './streamed-bytes.ts';
