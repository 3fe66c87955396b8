/** Marks a process that was started as a worker; its role follows. */
export const workerArgument = '__worker';
