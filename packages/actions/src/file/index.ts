// The parser of action files alone: it imports nothing of ours, so that `svcctl` can check files offline.
export { ActionFileError, hookTypes, type Action, type ActionHook, type HookType } from './action.ts';
export { eventTypes, isEventType, type EventType } from './events.ts';
export { actionFolders, countingFiles } from './folders.ts';
export { parseAction } from './parse-action.ts';
