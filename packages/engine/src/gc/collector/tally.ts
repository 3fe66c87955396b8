import type { GcCount } from '../../face/gc-runs.ts';

export class Tally implements GcCount {
  objects = 0;
  bytes = 0;

  add(size: number): void {
    this.objects += 1;
    this.bytes += size;
  }

  addMany(objects: number, bytes: number): void {
    this.objects += objects;
    this.bytes += bytes;
  }

  toJSON(): GcCount {
    return { objects: this.objects, bytes: this.bytes };
  }
}

/** What became of one class of garbage. */
export class ClassTally {
  readonly garbage = new Tally();
  readonly condemned = new Tally();
  readonly due = new Tally();
  readonly deleted = new Tally();
  readonly rescued = new Tally();
  readonly failed = new Tally();
}
