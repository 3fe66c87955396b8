import { execFileSync } from 'node:child_process';
import { tempDir } from './temp-dir.ts';
import { orSkipReason, UnavailableError } from './unavailable-error.ts';

/** Disks of their own, so small that a test can fill them. */
export class SmallDisks {
  readonly #mounted: string[] = [];

  /** Its folder; undefined where none can be mounted. */
  mount(bytes: number): Promise<string | undefined> {
    return orSkipReason('a small disk', async () => {
      const folder = tempDir();
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { stdio: 'pipe' });
      } catch (error) {
        throw new UnavailableError('mounting a file system needs the rights of root', { cause: error });
      }
      this.#mounted.push(folder);
      return folder;
    });
  }

  unmountAll(): void {
    for (const folder of this.#mounted.splice(0)) execFileSync('umount', ['--lazy', folder]);
  }
}
