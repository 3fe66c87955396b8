export { createLogger, errorText } from './logger.ts';
export type { LogSink, Logger, RootLogger } from './logger.ts';
export { LogOutputError, LogOutputs } from './outputs.ts';
export { hasSecretBody, redactHeaders, redactUrl } from './redact.ts';
