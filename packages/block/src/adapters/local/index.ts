export { openLocalAdapter } from './local-adapter.ts';
