import type { Reporter, TestCase } from 'vitest/node';

/** Names the tests that passed only when they were run again, so that nobody gets used to them. */
export class SecondChances implements Reporter {
  readonly #names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    const retried = test.diagnostic()?.retryCount ?? 0;
    if (retried > 0 && test.ok()) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    for (const name of this.#names) process.stdout.write(`passed only the second time: ${name}\n`);
  }
}
