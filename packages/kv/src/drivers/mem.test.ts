import { describeKvStore } from '@svc/kv/suite';
import { createMemStore, MemState } from './mem.ts';

const state = new MemState();
describeKvStore('mem', () => Promise.resolve(createMemStore(state)));
