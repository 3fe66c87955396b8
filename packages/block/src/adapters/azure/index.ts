export { openAzureAdapter } from './azure-adapter.ts';
