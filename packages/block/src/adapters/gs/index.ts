export { openGsAdapter } from './gs-adapter.ts';
