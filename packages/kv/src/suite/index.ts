export { describeKvStore } from './describe-kv-store.ts';
